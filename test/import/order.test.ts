import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { assertSameShop, dumpShop } from '../model/dump.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const payment = (id: number, over: object = {}) => ({
  type: 'payment',
  id,
  subscriptionId: 1001,
  cycle: '2026-11',
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-05T11:00:02Z',
  ...over,
});
const failed = (id: number, over: object = {}) => payment(id, { status: 'failed', ...over });
const refund = (id: number, over: object = {}) => ({
  type: 'refund',
  id,
  paymentId: 9001,
  amount: '10.00',
  refundedAt: '2026-11-06T00:00:00Z',
  ...over,
});
const remove = (record: string, id: number) => ({ type: 'delete', record, id });
/** As many no-op lines as one transaction takes. */
const aBatch = Array.from({ length: 1000 }, (_, index) => remove('refund', 1_000_000 + index));
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

onOneDatabase('the order of records', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Imports `runs` into one shop and `plain` into another, and compares what is stored. */
  const sameState = async (runs: readonly (readonly object[])[], plain: readonly object[]) => {
    const [shop, other] = [await createShop(store), await createShop(store)];
    for (const run of runs) await importAll(store, shop, run);
    const { refused } = await importAll(store, other, plain);
    assert.deepEqual(refused, []);
    await assertSameShop(store.write, shop.id, other.id);
  };
  const importOne = async (records: readonly object[]) =>
    importAll(store, await createShop(store), records);

  const family = [
    plan(),
    subscription(1001),
    failed(9001, { processedAt: '2026-11-04T00:00:00Z' }),
    payment(9002),
    refund(71, { paymentId: 9002 }),
    session(7001, { subscriptionId: 1001 }),
  ];

  test('may have children before their parents', () => sameState([family.toReversed()], family));

  test('may have children batches before their parents', () =>
    sameState([family.toReversed().flatMap((each) => [each, ...aBatch])], family));

  test('may have children in later runs than their parents', () =>
    sameState(
      family.map((each) => [each]),
      family,
    ));

  const savedAt = (id: number, createdAt: string, over: object = {}) =>
    session(id, { subscriptionId: 1001, outcome: 'saved', createdAt, ...over });

  test('may have the sessions of a new subscription with it or in other runs', async () => {
    const records = [
      plan(),
      subscription(1001),
      savedAt(7001, '2026-11-02T00:00:00Z'),
      savedAt(7002, '2026-11-04T00:00:00Z'),
      savedAt(7003, '2026-11-03T00:00:00Z'),
      savedAt(7004, '2026-11-05T00:00:00Z', { outcome: 'cancelled' }),
      savedAt(7005, '2026-11-06T00:00:00Z', { subscriptionId: null }),
    ];
    const apart = records.map((each) => [each]);
    await sameState(apart, records);
    await sameState(apart, records.toReversed());
    // Stored once more, with what is stored.
    await sameState(apart, [
      ...records,
      subscription(1001, { status: 'paused' }),
      ...aBatch,
      subscription(1001),
      savedAt(7003, '2026-11-03T00:00:00Z'),
    ]);
  });

  test('may have a session that moves to a new subscription, or an older version of it', async () => {
    const other = { subscriptionId: 1002, updatedAt: '2026-11-02T00:00:00Z' };
    const stored = [
      plan(),
      subscription(1002),
      savedAt(7001, '2026-11-01T00:00:00Z', other),
      savedAt(7002, '2026-11-01T12:00:00Z', other),
    ];
    const moved = savedAt(7001, '2026-11-01T00:00:00Z', { updatedAt: '2026-11-03T00:00:00Z' });
    const older = savedAt(7002, '2026-11-01T12:00:00Z', { updatedAt: '2026-11-01T13:00:00Z' });
    await sameState(
      [stored, [subscription(1001), moved, older]],
      [plan(), subscription(1002), stored[3]!, subscription(1001), moved],
    );
  });

  test('may have more waiting children than a transaction takes, for waiting parents', async () => {
    const refunds = Array.from({ length: 1100 }, (_, index) => refund(index + 1));
    const { counts, refused } = await importOne([
      ...refunds,
      payment(9001),
      subscription(1001),
      ...aBatch,
      plan(),
    ]);
    assert.deepEqual(refused, []);
    assert.deepEqual(counts, {
      plan: { ...none, stored: 1 },
      subscription: { ...none, stored: 1 },
      payment: { ...none, stored: 1 },
      refund: { ...none, stored: 1100 },
      delete: { ...none, unchanged: 1000 },
    });
  });

  test('decides between two records with the same id in a batch', async () => {
    const early = plan({ name: 'Early', updatedAt: '2026-11-02T00:00:00Z' });
    const late = plan({ name: 'Late', updatedAt: '2026-11-03T00:00:00Z' });
    const inOrder = await importOne([early, late]);
    assert.deepEqual(inOrder.counts, { plan: { ...none, stored: 1, replaced: 1 } });
    await sameState([[early, late]], [late]);

    const reversed = await importOne([late, early, early]);
    assert.deepEqual(reversed.counts, { plan: { ...none, stored: 1, stale: 2 } });
    await sameState([[late, early]], [late]);
  });

  for (const [between, apart] of [
    ['one batch', []],
    ['different batches', aBatch],
  ] as const) {
    test(`may have a newer version of a waiting record, in ${between}`, async () => {
      const old = subscription(1001, { planId: 12, customerId: 1 });
      const renewed = subscription(1001, { planId: 11, customerId: 2 });
      const plans = [plan(), plan({ id: 12 })];
      await sameState(
        [[plans[0]!, old, ...apart, renewed, ...apart, plans[1]!]],
        [...plans, renewed],
      );
    });

    test(`may have a deletion of a waiting record, in ${between}`, () =>
      sameState(
        [[subscription(1001), ...apart, remove('subscription', 1001), ...apart, plan()]],
        [plan()],
      ));

    test(`may have records that can never be stored, without blocking others, in ${between}`, async () => {
      const records = [
        refund(71),
        payment(9001, { subscriptionId: 404 }),
        subscription(1001, { planId: 404 }),
        ...apart,
        session(7001, { subscriptionId: 1001 }),
        plan(),
        payment(9001),
        ...apart,
        subscription(1001),
        subscription(1002, { planId: 404 }),
        remove('subscription', 1002),
      ];
      const { refused } = await importOne(records);
      const places = refused.toSorted((a, b) => a.line - b.line);
      assert.deepEqual(
        places.map(({ reason }) => reason),
        ['subscription 404 is not known', 'plan 404 is not known', 'plan 404 is not known'],
      );
      await sameState(
        [records],
        [
          plan(),
          subscription(1001),
          payment(9001),
          refund(71),
          session(7001, { subscriptionId: 1001 }),
        ],
      );
    });

    test(`may have a deleted subscription return without its old records, in ${between}`, async () => {
      const shop = await createShop(store);
      const { counts } = await importAll(store, shop, [
        ...family,
        ...apart,
        remove('subscription', 1001),
        ...apart,
        subscription(1001, { status: 'paused' }),
      ]);
      assert.deepEqual(counts['subscription'], { ...none, stored: 2 });
      const dump = await dumpShop(store.write, shop.id);
      assert.deepEqual(
        Object.entries(dump).map(([table, rows]) => [table, rows.length]),
        [
          ['cancellation_sessions', 1],
          ['contacted_cases', 0],
          ['customer_values', 1],
          ['customers', 1],
          ['departures', 0],
          ['dunning_cases', 0],
          ['export_dates', 0],
          ['failed_cycles', 0],
          ['metric_ledger', 13],
          ['payments', 0],
          ['plans', 1],
          ['price_changes', 0],
          ['refunds', 0],
          ['snapshot_dates', 0],
          ['source_ids', 0],
          ['status_events', 1],
          ['subscriber_changes', 1],
          ['subscription_lines', 1],
          ['subscription_values', 1],
          ['subscriptions', 1],
          ['superseded_facts', 0],
        ],
      );
      assert.match(dump['cancellation_sessions']?.[0] ?? '', /"subscription_id": null/);
      assert.match(dump['subscriptions']?.[0] ?? '', /"status":"paused"/);
    });
  }

  test('may have a plan deleted before its last subscription', () =>
    sameState(
      [[plan(), subscription(1001), remove('plan', 11), ...aBatch, remove('subscription', 1001)]],
      [],
    ));

  test('may have a deleted plan return, whether it was in use or not', async () => {
    const renamed = plan({ name: 'Renamed' });
    const used = await importOne([plan(), subscription(1001), remove('plan', 11), renamed]);
    assert.deepEqual(used.refused, [{ line: 3, reason: 'plan 11 is still in use' }]);
    assert.deepEqual(used.counts, {
      plan: { ...none, stored: 1, replaced: 1 },
      subscription: { ...none, stored: 1 },
      delete: { ...none, refused: 1 },
    });
    const unused = await importOne([plan(), remove('plan', 11), renamed]);
    assert.deepEqual(unused.counts, {
      plan: { ...none, stored: 2 },
      delete: { ...none, deleted: 1 },
    });
  });

  test('may have deletions of unknown records, which count as unchanged', async () => {
    const types = ['plan', 'subscription', 'payment', 'refund', 'cancellation'];
    const { counts } = await importOne(types.map((type) => remove(type, 404)));
    assert.deepEqual(counts, { delete: { ...none, unchanged: 5 } });
  });
});
