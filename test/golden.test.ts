import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { listChurned } from '../src/metrics/churn.ts';
import { listCohorts } from '../src/metrics/cohorts.ts';
import { readFigures } from '../src/metrics/segments/figures.ts';
import { summariseMovements, toMovements } from '../src/metrics/movements.ts';
import type { Service } from '../src/service.ts';
import type { Store } from '../src/store/open.ts';
import { onEveryDatabase } from './support/databases.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  startTestService,
  type TestShop,
} from './support/world.ts';

const read = (name: string) => readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8');
const expected = JSON.parse(read('expected.json'));
const records = read('records.ndjson').trim().split('\n');

onEveryDatabase('the golden data set', (open) => {
  let store: Store;
  let service: Service;
  let shop: TestShop;
  let base: string;
  let key: string;

  before(async () => {
    store = open();
    shop = await createShop(store);
    const { refused } = await importAll(store, shop, records);
    assert.deepEqual(refused, []);
    ({ key } = await createTestKey(store, shop.id));
    service = await startTestService(store);
    base = `${service.baseUrl}/api/external/v1`;
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  test('has the expected metrics summary', async () => {
    const { body } = await get(`${base}/metrics/summary`, key);
    assert.deepEqual(body, { summary: expected.summary });
  });

  test('has the expected entitlements of every customer', async () => {
    for (const [customerId, subscriptions] of Object.entries(expected.entitlements)) {
      const { body } = await get(`${base}/entitlements?customerId=${customerId}`, key);
      assert.deepEqual(body, { subscriptions });
    }
  });

  test('has the expected subscriptions, in total and by status', async () => {
    const { body } = await get(`${base}/subscriptions?limit=100`, key);
    assert.deepEqual(body, { subscriptions: expected.subscriptions, nextCursor: null });
    for (const status of ['active', 'paused', 'cancelled', 'expired', 'failed']) {
      const filtered = await get(`${base}/subscriptions?limit=100&status=${status}`, key);
      const subscriptions = expected.subscriptions.filter(
        (each: { status: string }) => each.status === status,
      );
      assert.deepEqual(filtered.body, { subscriptions, nextCursor: null });
    }
  });

  test('has the expected details of every subscription', async () => {
    for (const [id, subscription] of Object.entries(expected.detail)) {
      assert.deepEqual((await get(`${base}/subscriptions/${id}`, key)).body, { subscription });
    }
  });

  test('has the expected cancel-flow sessions', async () => {
    const { body } = await get(`${base}/cancellations?limit=100`, key);
    assert.deepEqual(body, { cancellations: expected.cancellations, nextCursor: null });
  });

  test('has the expected movements, churn and cohorts', async () => {
    const sql = store.primary.analyse;
    const now = Date.parse(expected.now);
    const from = now - 30 * 24 * 3_600_000;
    const values = await summariseMovements(sql, shop.id, { from, until: now });
    assert.deepEqual(toMovements(values, 'USD'), expected.movements);
    const window = { from, until: now, now };
    const churned = await listChurned(sql, shop.id, window, { after: undefined, limit: 50 });
    const causes = churned.map(({ subscriptionId, cause }) => `${subscriptionId} ${cause}`);
    assert.deepEqual(causes, expected.churned);
    const options = { months: 12, now };
    assert.deepEqual(await listCohorts(sql, shop, options), expected.cohorts);
    const selection = { segment: { plan: 12 }, now };
    assert.deepEqual(
      await readFigures(store.primary, shop, selection, (figures) => figures.cohorts(options)),
      expected.cohortsOfPlan12,
    );
  });

  test('gives the same summary if the records are imported in reverse order', async () => {
    const other = await createShop(store);
    const { refused } = await importAll(store, other, records.toReversed());
    assert.deepEqual(refused, []);
    const otherKey = (await createTestKey(store, other.id)).key;
    const { body } = await get(`${base}/metrics/summary`, otherKey);
    assert.deepEqual(body, { summary: expected.summary });
  });
});
