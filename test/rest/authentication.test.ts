import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '../../src/clock.ts';
import { addKeyUses } from '../../src/store/keys/requests.ts';
import { listKeys, updateRevokedKey } from '../../src/store/keys/keys.ts';
import { connectAll } from '../../src/store/open.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { onOneDatabase, serverUrl } from '../support/databases.ts';
import {
  createShop,
  createTestKey,
  get,
  now,
  startTestService,
  startWorld,
  type World,
} from '../support/world.ts';
import { bearer, type RawAnswer, request } from './raw.ts';

const paths = [
  '/api/external/entitlements?customerId=1',
  '/api/external/v1/entitlements?customerId=1',
  '/api/external/v1/subscriptions',
  '/api/external/v1/subscriptions/1',
  '/api/external/v1/metrics/summary',
  '/api/external/v1/plans',
  '/api/external/v1/cancellations',
];

/** A response without the headers that always differ. */
function stable({ status, headers, body }: RawAnswer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, headers: rest, body };
}

onOneDatabase('authentication', (open) => {
  let world: World;
  const statusOf = async (...headers: string[]) =>
    (await request(world.service.baseUrl, 'GET', '/api/external/v1/plans', headers)).status;

  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  // Requirements: rest.auth.bearer, rest.auth.same-401, rest.errors.401.
  test('responds 401 with the same bytes to any invalid key', async () => {
    const revoked = await createTestKey(world.store, world.shop.id);
    await updateRevokedKey(world.store.write, world.shop.id, revoked.id, new Date(now));
    const lastTurned = world.key.slice(0, -1) + (world.key.endsWith('A') ? 'Q' : 'A');
    const causes: readonly (readonly string[])[] = [
      [],
      ['authorization:'],
      ['authorization: Bearer'],
      ['authorization: Bearer '],
      [`authorization: ${world.key}`],
      [`authorization: Basic ${world.key}`],
      [`authorization: Bearer ${world.key} ${world.key}`],
      [`authorization: Bearer ${world.key},`],
      [`authorization: Bearer "${world.key}"`],
      [`x-api-key: ${world.key}`],
      [bearer('malformed')],
      [bearer(world.key.slice(0, -1))],
      [bearer(`${world.key}A`)],
      [bearer(world.key.replace('rtn_', 'RTN_'))],
      [bearer(world.key.toUpperCase())],
      // Repeated headers, identical ones too.
      [bearer(world.key), bearer(world.key)],
      [bearer(world.key), 'Authorization:'],
      ['AUTHORIZATION: Basic x', bearer(world.key)],
      // A wrong checksum, and an unknown key with a valid one.
      [bearer(lastTurned)],
      [bearer('rtn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlZZfdg')],
      [bearer(revoked.key)],
    ];
    const expected = {
      status: 401,
      headers: {
        'x-content-type-options': 'nosniff',
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'private, no-store',
        'www-authenticate': 'Bearer',
        'content-length': '42',
        connection: 'close',
      },
      body: '{"success":false,"message":"Unauthorized"}',
    };
    for (const path of paths) {
      for (const headers of causes) {
        const answer = await request(world.service.baseUrl, 'GET', path, headers);
        assert.deepEqual(stable(answer), expected, headers.join());
      }
    }
  });

  test('accepts the scheme in any case, and the key only from its header', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ']) {
      assert.equal(await statusOf(`authorization: ${scheme} ${world.key}`), 200, scheme);
    }
    const { status } = await get(`${world.base}/plans?access_token=${world.key}`);
    assert.equal(status, 401);
  });

  // Requirements: rest.auth.key-format, rest.auth.only-hash-stored.
  test('creates keys with a fixed prefix and 43 characters, and stores only a hash', async () => {
    assert.match(world.key, /^rtn_[A-Za-z0-9_-]{43}$/);
    const rows = await world.store.primary.keys<{ stored: string }[]>`
      select row_to_json(k)::text as stored from api_keys k where shop_id = ${world.shop.id}`;
    assert.ok(rows.length > 0);
    for (const { stored } of rows) {
      assert.ok(!stored.includes(world.key.slice(0, -4)));
      assert.ok(!stored.includes(world.key.slice(4, 20)));
    }
  });

  // Requirements: rest.auth.tier-required, rest.auth.tier-admitted, rest.errors.403-tier.
  test('refuses valid keys on free and starter with 403, and admits those on other tiers', async () => {
    for (const tier of ['free', 'starter'] as const) {
      const shop = await createShop(world.store, { tier });
      const { key } = await createTestKey(world.store, shop.id);
      for (const path of paths) {
        const answer = await request(world.service.baseUrl, 'GET', path, [bearer(key)]);
        assert.deepEqual(stable(answer), {
          status: 403,
          headers: {
            'x-content-type-options': 'nosniff',
            'content-type': 'application/json; charset=utf-8',
            'cache-control': 'private, no-store',
            'content-length': '86',
            connection: 'close',
          },
          body: '{"success":false,"message":"Developer API access requires the Growth plan or higher."}',
        });
      }
    }
    for (const tier of ['growth', 'pro', 'enterprise_plus'] as const) {
      const shop = await createShop(world.store, { tier });
      const { key } = await createTestKey(world.store, shop.id);
      assert.equal((await get(`${world.base}/plans`, key)).status, 200);
    }
  });

  test('applies a tier change once its wait is over', async () => {
    const shop = await createShop(world.store, { tier: 'growth' });
    const { key } = await createTestKey(world.store, shop.id);
    assert.equal((await get(`${world.base}/plans`, key)).status, 200);
    await updateShopTier(world.store.write, shop.id, 'starter');
    world.clock.advance(1_100);
    assert.equal((await get(`${world.base}/plans`, key)).status, 403);
  });

  test('applies a revocation once its wait is over, to that key only', async () => {
    const revoked = await createTestKey(world.store, world.shop.id);
    assert.equal((await get(`${world.base}/plans`, revoked.key)).status, 200);
    await updateRevokedKey(world.store.write, world.shop.id, revoked.id, new Date(now));
    world.clock.advance(1_100);
    for (const path of paths) {
      assert.equal((await get(world.service.baseUrl + path, revoked.key)).status, 401);
    }
    assert.equal((await get(`${world.base}/plans`, world.key)).status, 200);
  });

  test('stores the last use at most once a minute', async (t) => {
    const store = open();
    const own = await startWorld(store);
    t.after(() => own.close());
    const use = async () => assert.equal((await get(`${own.base}/plans`, own.key)).status, 200);
    const lastUse = async () =>
      (await listKeys(store.write, own.shop.id))[0]?.lastUsedAt?.toISOString();
    assert.equal(await lastUse(), undefined);
    await use();
    own.clock.advance(59_999);
    await use();
    // Closing waits for pending writes, and a new process reads what the old one wrote.
    await own.service.close();
    assert.equal(await lastUse(), '2026-11-20T12:00:00.000Z');

    const next = await startTestService(store, { clock: own.clock });
    t.after(() => next.close());
    const url = `${next.baseUrl}/api/external/v1/plans`;
    await get(url, own.key);
    own.clock.advance(1);
    await get(url, own.key);
    own.clock.advance(30_000);
    await get(url, own.key);
    await next.close();
    assert.equal(await lastUse(), '2026-11-20T12:01:30.000Z');

    // Instances do not know of each other's writes, so the database enforces the minute as well.
    const touch = (at: string) =>
      addKeyUses(store.write, [
        { shopId: own.shop.id, keyId: own.keyId, lastUsedAt: new Date(at), counts: [] },
      ]);
    await touch('2026-11-20T12:02:29.999Z');
    assert.equal(await lastUse(), '2026-11-20T12:01:30.000Z');
    await touch('2026-11-20T12:02:30.000Z');
    assert.equal(await lastUse(), '2026-11-20T12:02:30.000Z');
  });
});

const postgres = serverUrl;
const program = fileURLToPath(new URL('../../bin/retention', import.meta.url));

// Requirements: rest.auth.revoked-at-once.
test(
  'a key revoked on the command line is refused from then on by every instance',
  { skip: postgres === undefined && 'PostgreSQL is not available on this machine' },
  async () => {
    const store = connectAll(postgres as string);
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    const services = [
      await startTestService(store, { clock: systemClock }),
      await startTestService(store, { clock: systemClock }),
    ];
    const statuses = () =>
      Promise.all(
        services.map(
          async ({ baseUrl }) => (await get(`${baseUrl}/api/external/v1/plans`, key)).status,
        ),
      );

    // Both keep using the key meanwhile, so that the leases are as recent as possible.
    const end = new AbortController();
    const asking = (async () => {
      while (!end.signal.aborted) await statuses();
    })();
    try {
      assert.deepEqual(await statuses(), [200, 200]);
      await promisify(execFile)(program, ['keys', 'revoke', '--shop', String(shop.id), id], {
        env: { ...process.env, DATABASE_URL: postgres, LOG_LEVEL: 'silent' },
      });
      assert.deepEqual(await statuses(), [401, 401]);
    } finally {
      end.abort();
      await asking;
      await Promise.all(services.map((service) => service.close()));
      await store.close();
    }
  },
);
