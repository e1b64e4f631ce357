import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createUnloggedKey } from '../../src/access/keys/keys.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, createTestKey, get, now, startWorld, type World } from '../support/world.ts';
import { scopes, type Tier } from '../../src/vocabulary.ts';

const admitted = (times: number) => Array.from({ length: times }, () => 200);

onOneDatabase('limits', (open) => {
  let world: World;

  const keyOf = async (tier: Tier) => {
    const shop = await createShop(world.store, { tier });
    const { key } = await createTestKey(world.store, shop.id);
    const send = async (path = '/plans') => {
      const { status, headers, body } = await get(world.base + path, key);
      return { status, headers, body, retryAfter: headers.get('retry-after') };
    };
    const sendTimes = async (times: number) => {
      const statuses = [];
      for (let count = 0; count < times; count += 1) statuses.push((await send()).status);
      return statuses;
    };
    return { shop, key, send, sendTimes };
  };

  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  // Requirements: rest.limits.growth, rest.limits.retry-after, rest.errors.429.
  test('refuses the 61st request within 60 seconds on Growth', async () => {
    const { send, sendTimes } = await keyOf('growth');
    assert.deepEqual(await sendTimes(60), admitted(60));
    const refused = await send();
    assert.equal(refused.status, 429);
    assert.equal(refused.retryAfter, '60');
    assert.deepEqual(refused.body, {
      success: false,
      message: 'Rate limit exceeded. Retry after 60 seconds.',
    });
    world.clock.advance(500);
    assert.equal((await send()).retryAfter, '60', 'rounded up');
    world.clock.advance(500);
    assert.equal((await send()).retryAfter, '59');
    world.clock.advance(58_999);
    const last = await send();
    assert.equal(last.status, 429);
    assert.equal(last.retryAfter, '1', 'never 0');
    world.clock.advance(1);
    assert.deepEqual(await sendTimes(61), [...admitted(60), 429]);
  });

  test('has separate windows for keys of two shops with the same id', async () => {
    const keys = [];
    for (const shop of [await keyOf('growth'), await keyOf('growth')]) {
      const who = { id: 'same-id', createdBy: 'test', createdAt: new Date(now) };
      const request = { ...who, name: 'same', scopes };
      keys.push((await createUnloggedKey(world.store.write, shop.shop.id, request)).key);
    }
    const [one, other] = keys;
    for (let count = 0; count < 60; count += 1) await get(`${world.base}/plans`, one);
    assert.equal((await get(`${world.base}/plans`, one)).status, 429);
    assert.equal((await get(`${world.base}/plans`, other)).status, 200);
  });

  // Requirements: rest.limits.pro.
  test('refuses the 301st request within 60 seconds on Pro', async () => {
    const { send, sendTimes } = await keyOf('pro');
    assert.deepEqual(await sendTimes(300), admitted(300));
    const { status, headers } = await send();
    assert.equal(status, 429);
    assert.equal(headers.get('ratelimit-policy'), '"default";q=300;w=60');
  });

  // Requirements: rest.limits.enterprise-plus.
  test('never refuses on Enterprise Plus, and sends no RateLimit headers', async () => {
    const { send, sendTimes } = await keyOf('enterprise_plus');
    assert.deepEqual(await sendTimes(400), admitted(400));
    const { headers } = await send();
    assert.equal(headers.get('ratelimit-policy'), null);
    assert.equal(headers.get('ratelimit'), null);
  });

  // Requirements: rest.limits.rolling.
  test('frees a slot 60 seconds after the request that took it', async () => {
    const { send, sendTimes } = await keyOf('growth');
    assert.deepEqual(await sendTimes(20), admitted(20));
    world.clock.advance(30_000);
    assert.deepEqual(await sendTimes(40), admitted(40));
    assert.equal((await send()).retryAfter, '30');
    world.clock.advance(29_999);
    assert.equal((await send()).status, 429);
    world.clock.advance(1);
    assert.deepEqual(await sendTimes(21), [...admitted(20), 429]);
    assert.equal((await send()).retryAfter, '30');
    world.clock.advance(30_000);
    assert.deepEqual(await sendTimes(41), [...admitted(40), 429]);
  });

  test('does not count refused requests', async () => {
    const { sendTimes } = await keyOf('growth');
    await sendTimes(60);
    world.clock.advance(30_000);
    await sendTimes(70);
    world.clock.advance(30_000);
    assert.deepEqual(await sendTimes(60), admitted(60));
  });

  test('counts requests refused for scope or input, but not those refused for key or tier', async () => {
    const { shop, send } = await keyOf('free');
    for (let count = 0; count < 70; count += 1) {
      const { status, headers } = await send();
      assert.equal(status, 403);
      assert.equal(headers.get('ratelimit'), null);
    }
    await updateShopTier(world.store.write, shop.id, 'growth');
    world.clock.advance(1_100);
    assert.equal((await send()).headers.get('ratelimit'), '"default";r=59;t=60');
    assert.equal((await send('/entitlements')).status, 400);
    assert.equal((await send('/subscriptions/1')).status, 404);
    const { key } = await createTestKey(world.store, shop.id, ['read:plans']);
    assert.equal((await get(`${world.base}/metrics/summary`, key)).status, 403);
    assert.equal((await send()).headers.get('ratelimit'), '"default";r=56;t=60');
    assert.equal(
      (await get(`${world.base}/plans`, key)).headers.get('ratelimit'),
      '"default";r=58;t=60',
    );
    for (let count = 0; count < 70; count += 1) {
      assert.equal((await get(`${world.base}/plans`, 'rtn_invented')).status, 401);
    }
  });

  // Requirements: rest.limits.shared.
  test('shares one window between the alias and all operations', async () => {
    const { key, send } = await keyOf('growth');
    const paths = [
      `${world.service.baseUrl}/api/external/entitlements?customerId=1`,
      `${world.base}/entitlements?customerId=1`,
      `${world.base}/subscriptions`,
      `${world.base}/subscriptions/1`,
      `${world.base}/metrics/summary`,
      `${world.base}/plans`,
      `${world.base}/cancellations`,
    ];
    const headers = [];
    for (const path of paths) headers.push((await get(path, key)).headers.get('ratelimit'));
    assert.deepEqual(headers, [
      '"default";r=59;t=60',
      '"default";r=58;t=60',
      '"default";r=57;t=60',
      '"default";r=56;t=60',
      '"default";r=55;t=60',
      '"default";r=54;t=60',
      '"default";r=53;t=60',
    ]);
    for (let count = 0; count < 53; count += 1) await send();
    for (const path of paths) assert.equal((await get(path, key)).status, 429);
  });

  // Requirements: rest.limits.per-key.
  test('has a separate window for each key of a shop', async () => {
    const { shop, send, sendTimes } = await keyOf('growth');
    await sendTimes(60);
    assert.equal((await send()).status, 429);
    const other = await createTestKey(world.store, shop.id);
    assert.equal((await get(`${world.base}/plans`, other.key)).status, 200);
  });

  test('reports in RateLimit headers what is left, and when more is available', async () => {
    const { send, sendTimes } = await keyOf('growth');
    const first = await send();
    assert.equal(first.headers.get('ratelimit-policy'), '"default";q=60;w=60');
    assert.equal(first.headers.get('ratelimit'), '"default";r=59;t=60');
    assert.equal(first.retryAfter, null);
    world.clock.advance(15_000);
    assert.equal((await send()).headers.get('ratelimit'), '"default";r=58;t=45');
    await sendTimes(57);
    assert.equal((await send()).headers.get('ratelimit'), '"default";r=0;t=45');
    const refused = await send();
    assert.equal(refused.headers.get('ratelimit-policy'), '"default";q=60;w=60');
    assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=45');
    assert.equal(refused.retryAfter, '45');
  });

  test('admits concurrent requests exactly up to the limit', async () => {
    const { send } = await keyOf('growth');
    const statuses = await Promise.all(
      Array.from({ length: 80 }, async () => (await send()).status),
    );
    assert.equal(statuses.filter((status) => status === 200).length, 60);
    assert.equal(statuses.filter((status) => status === 429).length, 20);
  });
});
