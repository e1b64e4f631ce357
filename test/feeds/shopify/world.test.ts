import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LineSource } from '../../../src/ingest/import.ts';
import type { Service } from '../../../src/service.ts';
import type { Store } from '../../../src/store/open.ts';
import { assertSameShop, dumpShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  get,
  startTestService,
} from '../../support/world.ts';
import {
  entitlements,
  lines,
  payments,
  plans as planRows,
  statusEvents,
  subscriptions,
  summary,
} from './expected.ts';
import {
  file,
  flat,
  grouped,
  importShopify,
  plans,
  randomOf,
  sample,
  sampleFile,
  shuffled,
} from './samples.ts';

const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };
const refusedInGrouped = [
  `${grouped}:26: the contract is in CAD, and the shop's currency is USD`,
  `${grouped}:27: currentPrice is in CAD, and the shop's currency is USD`,
  `${grouped}:28: its SubscriptionContract was refused`,
];

onOneDatabase('the samples from Shopify', (open) => {
  let store: Store;
  let service: Service | undefined;
  let shop: TestShop;
  let base: string;
  let key: string;

  before(async () => {
    store = open();
    shop = await createShop(store);
    const imported = await importShopify(store, shop, [sampleFile(grouped), sampleFile(plans)]);
    assert.deepEqual(imported.refused, refusedInGrouped);
    assert.deepEqual(imported.counts, {
      subscription: { ...none, stored: 10, refused: 1 },
      line: { ...none, refused: 1 },
      payment: { ...none, stored: 9, refused: 1 },
      plan: { ...none, stored: 8 },
    });
    ({ key } = await createTestKey(store, shop.id));
    service = await startTestService(store);
    base = `${service.baseUrl}/api/external/v1`;
  });
  after(async () => {
    await service?.close();
    await store.close();
  });

  const rows = async (table: string, columns: string) => {
    const found = await store.write.unsafe<Record<string, unknown>[]>(
      `select ${columns} from ${table} where shop_id = ${shop.id} order by 1, 2`,
    );
    return found.map((row) =>
      Object.values(row)
        .map((value) => cell(value))
        .join(' | '),
    );
  };
  const cell = (value: unknown) =>
    value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : String(value);

  test('have the expected subscriptions', async () => {
    const columns =
      'subscription_id, customer_id, plan_id, status, status_since, current_price, own_interval_unit, own_interval_count, next_billing_at, paid_through_at, created_at, updated_at';
    assert.deepEqual(await rows('subscriptions', columns), subscriptions);
  });

  test('have the expected lines', async () => {
    const columns =
      'subscription_id, position, line_id, product_id, product_title, variant_id, variant_title, quantity, current_price';
    assert.deepEqual(await rows('subscription_lines', columns), lines);
  });

  test('have the expected status changes', async () => {
    const columns = 'subscription_id, position, at, from_status, to_status';
    assert.deepEqual(await rows('status_events', columns), statusEvents);
  });

  test('have the expected payments and cycles', async () => {
    const columns =
      'payment_id, subscription_id, cycle, status, failure_kind, amount, processed_at, updated_at';
    assert.deepEqual(await rows('payments', columns), payments);
  });

  test('have the expected plans', async () => {
    const columns =
      'plan_id, name, group_name, plan_type, interval_unit, interval_count, active, product_count, discount_type, discount_value, pricing_summary';
    assert.deepEqual(await rows('plans', columns), planRows);
  });

  test('have the expected entitlements', async () => {
    for (const [customerId, expected] of Object.entries(entitlements)) {
      const { body } = await get(`${base}/entitlements?customerId=${customerId}`, key);
      const found = body.subscriptions as Record<string, unknown>[];
      assert.deepEqual(
        found.map((each) => [each['subscriptionId'], each['planType'], each['isEntitled']]),
        expected,
      );
    }
  });

  test('have the expected metrics summary', async () => {
    const { body } = await get(`${base}/metrics/summary`, key);
    assert.deepEqual(body, { summary });
  });

  const orders: [order: string, files: () => readonly LineSource[], bytesInMemory?: number][] = [
    ['flat', () => [sampleFile(flat), sampleFile(plans)]],
    ['plans first', () => [sampleFile(plans), sampleFile(grouped)]],
    ['all in one file', () => [file('all', [...sample(flat), ...sample(plans)])]],
    ['shuffled', () => [file('all', shuffled([...sample(flat), ...sample(plans)], randomOf(7)))]],
    [
      'split by kind of line',
      () =>
        ['Attempt/', 'Line/', 'Contract/', 'Plan/', 'Group/'].map((kind) =>
          file(
            kind,
            [...sample(flat), ...sample(plans)].filter((line) => line.slice(0, 60).includes(kind)),
          ),
        ),
    ],
    ['merged from runs of one line', () => [sampleFile(flat), sampleFile(plans)], 1],
    ['merged from a few runs', () => [sampleFile(grouped), sampleFile(plans)], 2000],
    ['twice in the same run', () => [grouped, plans, flat, plans].map(sampleFile)],
  ];
  for (const [order, files, bytesInMemory] of orders) {
    test(`are stored the same from files that are ${order}`, async () => {
      const other = await createShop(store);
      const { counts } = await importShopify(store, other, files(), bytesInMemory);
      assert.equal(counts['subscription']?.refused, order.startsWith('twice') ? 2 : 1);
      await assertSameShop(store.write, other.id, shop.id);
    });
  }

  test('change nothing when imported again in another layout', async () => {
    const dump = await dumpShop(store.write, shop.id);
    const { counts } = await importShopify(store, shop, [sampleFile(plans), sampleFile(flat)]);
    assert.deepEqual(counts, {
      line: { ...none, refused: 1 },
      subscription: { ...none, unchanged: 10, refused: 1 },
      payment: { ...none, unchanged: 9, refused: 1 },
      plan: { ...none, unchanged: 8 },
    });
    assert.deepEqual(await dumpShop(store.write, shop.id), dump);
  });

  test('change no other shop', async () => {
    const [other, empty] = [await createShop(store), await createShop(store)];
    await importShopify(store, other, [sampleFile(flat)]);
    const [dump, ofEmpty] = [
      await dumpShop(store.write, other.id),
      await dumpShop(store.write, empty.id),
    ];
    await importShopify(store, await createShop(store), [sampleFile(plans), sampleFile(flat)]);
    assert.deepEqual(await dumpShop(store.write, other.id), dump);
    assert.deepEqual(await dumpShop(store.write, empty.id), ofEmpty);
  });
});
