import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { createSecret } from '../../src/access/secrets.ts';
import {
  addKeyUses,
  listAnsweredRequests,
  listKeyRequests,
} from '../../src/store/keys/requests.ts';
import type { Store } from '../../src/store/open.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  get,
  now,
  silentLog,
  startTestService,
} from '../support/world.ts';
import { mcpPost, mcpRequest } from './mcp-call.ts';
import { signedInOwner } from './visitor.ts';

/** The hour of `now`, in hours since 1970. */
const noon = 498_660;
const hour = 3_600_000;
const scopes = ['read:plans'] as const;

const answered = (requests: readonly (readonly [hour: number, requests: number])[]) =>
  requests.map(([each, count]) => ({
    hour: each,
    operation: 'list_plans',
    status: 200,
    requests: count,
  }));

onOneDatabase('the use of a key', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const stored = async (shopId: number) =>
    [...(await listKeyRequests(store.write, shopId, 0))].map(([keyId, hours]) => [
      keyId,
      [...hours].toSorted(([one], [other]) => one - other),
    ]);

  test('is counted over REST, MCP and two instances, whatever the status', async () => {
    const clock = new FixedClock(Date.parse(now) + hour - 1);
    const services = [
      await startTestService(store, { clock }),
      await startTestService(store, { clock }),
    ] as const;
    const [first, second] = services.map(({ baseUrl }) => `${baseUrl}/api/external/v1`);
    const shop = await createShop(store, { tier: 'growth' });
    const { id, key } = await createTestKey(store, shop.id, scopes);
    const locked = await createShop(store, { tier: 'free' });
    const lockedKey = await createTestKey(store, locked.id, scopes);
    try {
      const each = async (url: string, count: number) =>
        (await Promise.all(Array.from({ length: count }, () => get(url, key)))).map(
          ({ status }) => status,
        );
      const answers = [
        ...(await each(`${first}/plans`, 40)),
        ...(await each(`${second}/plans`, 30)),
        ...(await each(`${first}/subscriptions`, 3)),
        (await get(`${first}/plans`, lockedKey.key)).status,
        // An unknown key, which is not counted.
        (await get(`${first}/plans`, `rtn_${'x'.repeat(43)}`)).status,
      ];
      for (let calls = 0; calls < 5; calls += 1) {
        assert.equal(await mcpPost(services[calls % 2]?.baseUrl ?? '', key), 200);
      }
      clock.advance(1);
      // Each instance has its own limit of 60 a minute, of which the first has admitted 46.
      answers.push(...(await each(`${first}/plans`, 20)), ...(await each(`${second}/plans`, 7)));
      const counted = Object.groupBy(answers, String);
      assert.deepEqual(
        Object.entries(counted).map(([status, all]) => [status, all?.length]),
        [
          ['200', 91],
          ['401', 1],
          ['403', 4],
          ['429', 6],
        ],
      );
    } finally {
      await Promise.all(services.map((service) => service.close()));
    }
    assert.deepEqual(await stored(shop.id), [
      [
        id,
        [
          [noon, 78],
          [noon + 1, 27],
        ],
      ],
    ]);
    assert.deepEqual(await stored(locked.id), [[lockedKey.id, [[noon, 1]]]]);
  });

  test('counts MCP requests over the limit for the operation that their headers announce', async () => {
    const clock = new FixedClock(Date.parse(now));
    const service = await startTestService(store, { clock });
    const shop = await createShop(store, { tier: 'growth' });
    const { key } = await createTestKey(store, shop.id, scopes);
    try {
      const plans = `${service.baseUrl}/api/external/v1/plans`;
      await Promise.all(Array.from({ length: 60 }, () => get(plans, key)));
      for (const [headers, times] of [
        [{}, 1],
        [{ 'mcp-method': 'tools/call', 'mcp-name': 'list_plans' }, 2],
        [{ 'mcp-method': 'tools/list' }, 3],
        [{ 'mcp-method': 'tools/call', 'mcp-name': 'invented' }, 4],
        [{ 'mcp-method': 'invented' }, 5],
      ] as const) {
        for (let time = 0; time < times; time += 1) {
          assert.equal((await mcpRequest(service.baseUrl, key, headers)).status, 429);
        }
      }
    } finally {
      await service.close();
    }
    const counted = await listAnsweredRequests(store.write, shop.id, noon);
    assert.deepEqual(
      counted
        .map(({ operation, status, requests }) => [operation, status, Number(requests)])
        .toSorted(),
      [
        ['list_plans', 200, 60],
        ['list_plans', 429, 2],
        ['message not read', 429, 6],
        ['tools/call', 429, 4],
        ['tools/list', 429, 3],
      ],
    );
  });

  test('counts MCP messages that are none by what is wrong with them, in words', async () => {
    const service = await startTestService(store, { clock: new FixedClock(Date.parse(now)) });
    const shop = await createShop(store);
    const { key } = await createTestKey(store, shop.id);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const send = (body: string) =>
      fetch(`${service.baseUrl}/api/mcp`, { method: 'POST', headers, body });
    try {
      await Promise.all(['{', '[]', '{"jsonrpc":"2.0","id":1,"method":"invented"}'].map(send));
    } finally {
      await service.close();
    }
    const counted = await listAnsweredRequests(store.write, shop.id, noon);
    assert.deepEqual(counted.map(({ operation }) => operation).toSorted(), [
      'invalid request',
      'parse error',
      'unknown method',
    ]);
  });

  test('is kept for 30 days, and only for keys that exist', async () => {
    const shop = await createShop(store);
    const [one, other] = [await createTestKey(store, shop.id), await createTestKey(store, shop.id)];
    const add = (keyId: string, at: number, requests: [number, number][]) =>
      addKeyUses(store.write, [
        { shopId: shop.id, keyId, lastUsedAt: new Date(at), counts: answered(requests) },
      ]);
    const start = Date.parse(now);
    const silent = [
      [noon, 9],
      [noon + 1, 5],
    ] as [number, number][];
    await add(other.id, start, silent);
    await add(one.id, start, silent);
    await add(one.id, start + 720 * hour, [
      [noon + 720, 2],
      [noon + 1, 1],
    ]);
    await add('key_0123456789abcdef', start, [[noon, 7]]);
    const all = new Map((await stored(shop.id)) as [string, unknown][]);
    assert.deepEqual(all.get(other.id), silent);
    assert.deepEqual(all.get(one.id), [
      [noon, 9],
      [noon + 1, 6],
      [noon + 720, 2],
    ]);
    // So many that old ones are deleted, though only by chance for each.
    const many = Array.from({ length: 2_000 }, (): [number, number] => [noon + 721, 1]);
    await add(one.id, start + 721 * hour, many);
    const later = new Map((await stored(shop.id)) as [string, unknown][]);
    assert.deepEqual(later.get(one.id), [
      [noon + 1, 6],
      [noon + 720, 2],
      [noon + 721, 2_000],
    ]);
    assert.deepEqual(later.get(other.id), silent);
    assert.equal(later.size, 2);

    await deleteShop(store.write, shop.id, { by: { who: 'service' }, at: new Date() });
    assert.deepEqual(await stored(shop.id), []);
  });

  test('of many keys is added together, each to its own', async () => {
    const shops = [await createShop(store), await createShop(store)] as const;
    const [one, other] = [
      await createTestKey(store, shops[0].id),
      await createTestKey(store, shops[1].id),
    ];
    const use = (shop: TestShop, keyId: string, requests: [number, number][]) => ({
      shopId: shop.id,
      keyId,
      lastUsedAt: requests.length === 0 ? null : new Date(now),
      counts: answered(requests),
    });
    await addKeyUses(store.write, [
      use(shops[1], other.id, [[noon, 1]]),
      use(shops[0], one.id, [
        [noon - 1, 2],
        [noon, 3],
      ]),
      // Keys of another shop, and the same key once more.
      use(shops[0], other.id, [[noon, 100]]),
      use(shops[1], one.id, []),
      use(shops[1], other.id, [[noon, 4]]),
    ]);
    assert.deepEqual(await stored(shops[0].id), [
      [
        one.id,
        [
          [noon - 1, 2],
          [noon, 3],
        ],
      ],
    ]);
    assert.deepEqual(await stored(shops[1].id), [[other.id, [[noon, 5]]]]);
    await addKeyUses(store.write, [
      use(shops[0], one.id, []),
      use(shops[1], other.id, [[noon, 1]]),
    ]);
    assert.deepEqual(await stored(shops[1].id), [[other.id, [[noon, 6]]]]);
  });

  test('is shown to the owner for the last 24 hours, without other shops’ use', async () => {
    const clock = new FixedClock(now);
    const service = await startTestService(store, { clock });
    try {
      const shop = await createShop(store);
      const stranger = await createShop(store);
      const { id } = await createTestKey(store, shop.id);
      const name = 'Theirs';
      // The same id in another shop, because ids are unique only within a shop.
      const keyParts = { sql: store.write, clock, log: silentLog };
      const target = { shopId: stranger.id, id, actor: { who: 'command line' } };
      await createSecret(apiKeys, keyParts, target, { name, scopes });
      const lastUsedAt = new Date(Date.parse(now) - 5 * 60_000);
      await addKeyUses(store.write, [
        { shopId: stranger.id, keyId: id, lastUsedAt, counts: answered([[noon - 2, 777]]) },
      ]);
      const { visitor } = await signedInOwner({ store, clock, service, shop });
      const path = `/app/shops/${shop.id}/keys`;
      const unused = (await visitor.get(path)).text;
      assert.match(unused, /0 in 24 h/);
      assert.doesNotMatch(unused, /role="img"|777 in 24 h/);

      const counts = answered([
        [noon - 24, 50_000],
        [noon - 23, 4],
        [noon - 20, 1000],
        [noon, 200],
      ]);
      await addKeyUses(store.write, [{ shopId: shop.id, keyId: id, lastUsedAt, counts }]);
      const { text } = await visitor.get(path);
      assert.match(text, /<summary>1,204 in 24 h<\/summary>/);
      assert.ok(
        text.includes(
          'aria-label="Requests: 1,204 in 24 h, by hour in UTC. Busiest hour: 16:00, with 1,000"',
        ),
      );
      const bars = [...text.matchAll(/<rect\s+x="(\d+)"[^>]*height="(\d+)"\s*><title>([^<]*)</g)];
      assert.deepEqual(
        bars.map(([, ...bar]) => bar),
        [
          ['0', '2', '13:00: 4'],
          ['18', '32', '16:00: 1,000'],
          ['138', '6', '12:00: 200'],
        ],
      );
      assert.deepEqual(
        [...text.matchAll(/<li>(\d\d:00: [\d,]+)<\/li>/g)].map(([, item]) => item),
        ['13:00: 4', '16:00: 1,000', '12:00: 200'],
      );
      // Includes the characters around numbers on the page, because ids may contain these digits.
      assert.doesNotMatch(text, /[> ](?:777|50,000)[ <"]| style=/);
      const german = await visitor.get(path, { 'accept-language': 'de-DE' });
      assert.match(german.text, /<summary>1\.204 in 24 h</);
    } finally {
      await service.close();
    }
  });

  test('is shown when the key is revoked, even before it is stored', async () => {
    const clock = new FixedClock(now);
    const service = await startTestService(store, { clock });
    try {
      const shop = await createShop(store);
      const { visitor } = await signedInOwner({ store, clock, service, shop });
      const path = `/app/shops/${shop.id}/keys`;
      const used = await createTestKey(store, shop.id);
      const unused = await createTestKey(store, shop.id);
      const plans = `${service.baseUrl}/api/external/v1/plans`;
      assert.equal((await get(plans, used.key)).status, 200);
      clock.advance(59_000);
      assert.equal((await get(plans, used.key)).status, 200);

      const noticeAt = async (address: string) =>
        /<p class="notice"[^>]*>(.*?)<\/p>/s
          .exec((await visitor.get(address)).text)?.[1]
          ?.replace(/<[^>]*>/g, '')
          .replace(/\s+/g, ' ')
          .trim();
      await visitor.get(`${path}/${used.id}/revoke`);
      const done = await visitor.post(`${path}/${used.id}/revoke`);
      assert.equal(done.location, `${path}?done=revoked&key=${used.id}`);
      const address = done.location ?? '';
      assert.equal(
        await noticeAt(address),
        'Key revoked. The last request with it was less than a minute ago.',
      );
      assert.match((await visitor.get(address)).text, /datetime="2026-11-20T12:00:59Z">less than/);
      await visitor.post(`${path}/${unused.id}/revoke`);
      assert.equal(
        await noticeAt(`${path}?done=revoked&key=${unused.id}`),
        'Key revoked. It was never used.',
      );

      const other = await createShop(store);
      const theirs = await createTestKey(store, other.id);
      const live = await createTestKey(store, shop.id);
      for (const key of [theirs.id, live.id, 'key_0123456789abcdef', '%3Cb%3E', '']) {
        assert.equal(await noticeAt(`${path}?done=revoked&key=${key}`), undefined, key);
      }
      assert.equal(await noticeAt(`${path}?done=constructor`), undefined);
      assert.equal(await noticeAt(`${path}?done=revoked`), undefined);
    } finally {
      await service.close();
    }
  });
});
