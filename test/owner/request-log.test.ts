import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { revokeSecret } from '../../src/access/secrets.ts';
import { FixedClock } from '../../src/clock.ts';
import { encodePlace } from '../../src/owner/framework/cursor.ts';
import {
  type LoggedRequest,
  addKeyUses,
  listAnsweredRequests,
  addLoggedRequests,
  listLoggedRequests,
} from '../../src/store/keys/requests.ts';
import type { Store } from '../../src/store/open.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import {
  createShop,
  createTestKey,
  get,
  now,
  silentLog,
  startTestService,
} from '../support/world.ts';
import { mcpPost } from './mcp-call.ts';
import { plain, rowsOf } from './page-text.ts';
import { signedInOwner } from './visitor.ts';
import { onOneDatabase } from '../support/databases.ts';

onOneDatabase('the log of requests', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const all = { status: undefined, keyId: undefined, after: undefined, limit: 2_000 };

  const list = async (shopId: number) => [...(await listLoggedRequests(store.write, shopId, all))];

  const request = (keyId: string, milliseconds: number, over: Partial<LoggedRequest> = {}) => ({
    at: new Date(Date.parse(now) + milliseconds),
    requestId: randomUUID(),
    keyId,
    transport: 'rest' as const,
    operation: 'list_plans',
    status: 200,
    microseconds: 1_234,
    dropped: 0,
    ...over,
  });

  test('keeps the latest 1,000 of each shop, in whatever order instances write them', async () => {
    const [shop, other] = [await createShop(store), await createShop(store)];
    const [{ id }, { id: otherId }] = [
      await createTestKey(store, shop.id),
      await createTestKey(store, other.id),
    ];
    const theirs = request(otherId, -1_000_000);
    await addLoggedRequests(store.write, [{ shopId: other.id, requests: [theirs] }]);
    const range = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, each) => request(id, from + each));
    const [early, late] = [range(1, 700), range(701, 1_400)];
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests: late }]);
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests: early }]);
    // A repeated write, whose confirmation was lost.
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests: late }]);
    assert.deepEqual(await list(shop.id), [...early, ...late].slice(400).toReversed());
    assert.deepEqual(await list(other.id), [theirs]);
  });

  test('is deleted with its shop, and takes nothing of a shop that does not exist', async () => {
    const shop = await createShop(store);
    const { id } = await createTestKey(store, shop.id);
    const mine = request(id, 0);
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests: [mine] }]);
    assert.deepEqual(await list(shop.id), [mine]);
    await deleteShop(store.write, shop.id, { by: { who: 'service' }, at: new Date() });
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests: [mine] }]);
    assert.deepEqual(await list(shop.id), []);
  });

  test('does not grow with the requests', async () => {
    const shop = await createShop(store);
    const { id } = await createTestKey(store, shop.id);
    for (let batch = 0; batch < 8; batch += 1) {
      const requests = Array.from({ length: 1_000 }, (_, each) =>
        request(id, 1_000 * batch + each),
      );
      await addLoggedRequests(store.write, [{ shopId: shop.id, requests: requests }]);
    }
    const [stored] = await store.write<{ requests: number }[]>`
      select sum(requests)::int as requests from request_batches where shop_id = ${shop.id}`;
    assert.equal(stored?.requests, 2_000);
    assert.equal((await list(shop.id)).length, 1_000);
  });

  test('is filtered by status and key, and paged, also among requests of one millisecond', async () => {
    const clock = new FixedClock(now);
    const service = await startTestService(store, { clock });
    try {
      const shop = await createShop(store);
      const [first, second] = [
        await createTestKey(store, shop.id),
        await createTestKey(store, shop.id),
      ];
      const requests = Array.from({ length: 120 }, (_, each) =>
        request(each % 3 === 0 ? second.id : first.id, -Math.floor(each / 40), {
          status: each % 4 === 0 ? 429 : 200,
          microseconds: 1_000 * each,
          dropped: each === 70 ? 3_456 : 0,
        }),
      );
      await addLoggedRequests(store.write, [{ shopId: shop.id, requests: requests }]);
      const { visitor } = await signedInOwner({ store, clock, service, shop });
      const path = `/app/shops/${shop.id}/developers/requests`;
      /** The request ids of all pages. */
      const read = async (query: string) => {
        const ids: string[] = [];
        const texts: string[] = [];
        for (let next: string | undefined = `${path}?${query}`; next !== undefined;) {
          const { status, text } = await visitor.get(next);
          assert.equal(status, 200);
          texts.push(text);
          ids.push(...rowsOf(text).map((row) => row[6] ?? ''));
          next = /class="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
        }
        return { ids, texts };
      };
      const idsOf = (fits: (each: LoggedRequest) => boolean) =>
        requests.filter(fits).map(({ requestId }) => requestId);
      const everything = await read('');
      assert.equal(everything.texts.length, 3);
      assert.deepEqual(everything.ids.toSorted(), idsOf(() => true).toSorted());
      assert.equal(everything.texts.filter((text) => text.includes('3,456 requests')).length, 1);
      const limited = await read('status=429');
      assert.deepEqual(limited.ids.toSorted(), idsOf(({ status }) => status === 429).toSorted());
      const both = await read(`status=200&key=${second.id}`);
      assert.deepEqual(
        both.ids.toSorted(),
        idsOf(({ status, keyId }) => status === 200 && keyId === second.id).toSorted(),
      );
      for (const [slow, fast] of [
        ['slowest', 'fastest'],
        ['newest', 'oldest'],
      ] as const) {
        const { ids } = await read(`order=${slow}&status=429`);
        assert.deepEqual((await read(`order=${fast}&status=429`)).ids, ids.toReversed());
      }
      const { ids: slowest } = await read('order=slowest');
      assert.deepEqual(slowest, idsOf(() => true).toReversed());
      const from = (createdAt: number) => {
        const place = { createdAt, requestId: randomUUID(), microseconds: 0, before: 50 };
        return `cursor=${encodePlace(`${shop.id} ${path} {} newest`, place)}`;
      };
      const passed = await visitor.get(`${path}?${from(0)}`);
      assert.equal(passed.status, 200);
      assert.match(plain(passed.text), /There are no further requests\. See all/);
      for (const query of [
        'status=abc',
        'cursor=1',
        'cursor=9.x',
        'status=20',
        'key=%00',
        // After the year 9999.
        from(Date.UTC(10_000, 0, 1)),
      ]) {
        const { status, text } = await visitor.get(`${path}?${query}`);
        assert.equal(status, 400, query);
        assert.match(text, /role="alert"/);
      }
    } finally {
      await service.close();
    }
  });

  test('has every request of all instances, refused ones too, and nothing that they asked for', async () => {
    const clock = new FixedClock(now);
    const services = [
      await startTestService(store, { clock }),
      await startTestService(store, { clock }),
    ] as const;
    const shop = await createShop(store, { tier: 'growth' });
    const { id, key } = await createTestKey(store, shop.id, ['read:plans', 'read:subscriptions']);
    const ended = await createTestKey(store, shop.id);
    const [first, second] = services.map(({ baseUrl }) => `${baseUrl}/api/external/v1`);
    const { visitor } = await signedInOwner({ store, clock, service: services[0], shop });
    const path = `/app/shops/${shop.id}/developers`;
    try {
      await revokeSecret(
        apiKeys,
        { sql: store.write, clock, log: silentLog },
        { shopId: shop.id, id: ended.id, actor: { who: 'command line' } },
      );
      const asked = [
        [`${first}/plans`, key, 200],
        [`${second}/plans`, key, 200],
        [`${first}/subscriptions/987654321`, key, 404],
        [`${first}/subscriptions?limit=1234`, key, 400],
        [`${first}/metrics/summary`, key, 403],
        [`${first}/plans`, ended.key, 401],
        // A key that does not exist belongs to no shop.
        [`${first}/plans`, `rtn_${'x'.repeat(43)}`, 401],
      ] as const;
      for (const [url, with_, status] of asked) {
        clock.advance(1);
        assert.equal((await get(url, with_)).status, status);
      }
      clock.advance(1);
      assert.equal(await mcpPost(services[0].baseUrl, key), 200);
      clock.advance(1);
      await visitor.get(`${path}/console`);
      const ran = await visitor.post(`${path}/console`, { key: id, operation: 'list_plans' });
      assert.equal(ran.status, 200);
      // The page stores what its own instance knows before it shows the log.
      const { text } = await visitor.get(`${path}/requests`);
      assert.deepEqual(
        rowsOf(text).map(([operation, status, , , via]) => [operation, status, via]),
        [
          ['list_plans', '200', 'Console'],
          ['tools/list', '200', 'MCP'],
          ['list_plans', '401', 'REST'],
          ['get_metrics_summary', '403', 'REST'],
          ['list_subscriptions', '400', 'REST'],
          ['get_subscription', '404', 'REST'],
          ['list_plans', '200', 'REST'],
        ],
      );
      assert.doesNotMatch(text, /987654321|[^\d]1234[^\d]/);
      const answer = await get(`${first}/plans`, key);
      const id2 = answer.headers.get('x-request-id') ?? 'none';
      assert.ok((await visitor.get(`${path}/requests`)).text.includes(id2));
    } finally {
      await Promise.all(services.map((service) => service.close()));
    }
    assert.equal((await list(shop.id)).length, 9);
    const counts = await listAnsweredRequests(store.write, shop.id, 0);
    assert.deepEqual(
      counts
        .map(({ keyId, operation, status, requests }) => [
          keyId === id ? 'key' : 'ended',
          operation,
          status,
          requests,
        ])
        .toSorted(),
      [
        ['ended', 'list_plans', 401, 1],
        ['key', 'get_metrics_summary', 403, 1],
        ['key', 'get_subscription', 404, 1],
        ['key', 'list_plans', 200, 4],
        ['key', 'list_subscriptions', 400, 1],
        ['key', 'tools/list', 200, 1],
      ],
    );
  });

  test('the page of the usage has the last 24 hours and the last 30 days', async () => {
    const clock = new FixedClock(now);
    const service = await startTestService(store, { clock });
    try {
      const shop = await createShop(store);
      const { id } = await createTestKey(store, shop.id);
      const { visitor } = await signedInOwner({ store, clock, service, shop });
      const path = `/app/shops/${shop.id}/developers/usage`;
      assert.match((await visitor.get(path)).text, /No requests/);
      const noon = 498_660;
      const count = (hour: number, operation: string, status: number, requests: number) => ({
        hour,
        operation,
        status,
        requests,
      });
      await addKeyUses(store.write, [
        {
          shopId: shop.id,
          keyId: id,
          lastUsedAt: new Date(now),
          counts: [
            count(noon, 'list_plans', 200, 1_200),
            count(noon - 23, 'list_plans', 200, 34),
            count(noon, 'list_plans', 429, 7),
            count(noon, 'get_subscription', 404, 5),
            count(noon - 24, 'list_plans', 200, 100_000),
            count(noon - 719, 'get_subscription', 500, 2),
            count(noon - 720, 'get_subscription', 500, 9),
          ],
        },
      ]);
      const cells = async (query: string) => {
        const { text } = await visitor.get(path + query);
        return { head: plain(/<thead>(.*?)<\/thead>/s.exec(text)?.[1] ?? ''), rows: rowsOf(text) };
      };
      assert.deepEqual(await cells(''), {
        head: 'Operation Requests Succeeded Refused',
        rows: [
          ['get_subscription', '5', '0', '5 × 404 Not Found'],
          ['list_plans', '1,241', '1,234', '7 × 429 Too Many Requests'],
        ],
      });
      assert.deepEqual(await cells('?period=30d'), {
        head: 'Operation Requests Succeeded Refused',
        rows: [
          ['get_subscription', '7', '0', '5 × 404 Not Found 2 × 500 Internal Server Error'],
          ['list_plans', '101,241', '101,234', '7 × 429 Too Many Requests'],
        ],
      });
      assert.deepEqual(await cells('?period=constructor'), await cells(''));
      const { text } = await visitor.get(path);
      assert.match(
        plain(text),
        /Not asked in this period: get_entitlements , list_subscriptions , /,
      );
      assert.match(plain(text), /1,246 requests, 1,234 succeeded/);
      assert.ok(text.includes(`/developers/requests?status=429&amp;key=${id}`));
      // A day without requests, after others with some.
      clock.advance(48 * 3_600_000);
      const { visitor: later } = await signedInOwner({ store, clock, service, shop });
      assert.match((await later.get(path)).text, /period=30d"\s+aria-current="true"/);
      assert.match((await later.get(`${path}?period=24h`)).text, /No requests/);
    } finally {
      await service.close();
    }
  });
});
