import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { type SnapshotOptions, Snapshot } from '../../src/ingest/snapshot.ts';
import type { Sql, Transaction } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, importSnapshot } from '../support/world.ts';

const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const subscriptions = (from: number, to: number) =>
  range(from, to).map((id) => subscription(id, { customerId: id }));
const payments = (from: number, to: number) =>
  range(from, to).map((id) => ({
    type: 'payment',
    id,
    subscriptionId: id,
    cycle: '2026-11',
    status: 'succeeded',
    amount: '30.60',
    processedAt: '2026-11-05T00:00:00Z',
  }));

onOneDatabase('an import of everything', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** A shop with plan 11, subscriptions 1 to 10 and a payment of each. */
  async function filledShop() {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), ...subscriptions(1, 10), ...payments(1, 10)]);
    return shop;
  }

  async function complete(
    shop: TestShop,
    records: readonly (object | string)[],
    options: Partial<SnapshotOptions> = {},
    feed: { readonly isFromFeed?: boolean; readonly signal?: AbortSignal } = {},
  ) {
    const snapshot = new Snapshot({ allowShrink: false, ...options });
    const { counts } = await importSnapshot(store, shop, records, snapshot, feed);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
    return { counts, outcome: snapshot.outcome };
  }

  async function storedIds({ id }: TestShop) {
    const ids = async (table: string, column: string) => {
      const { write } = store;
      const rows = await write<{ id: number }[]>`
        select ${write.unsafe(column)} as id from ${write.unsafe(table)} where shop_id = ${id}
        order by 1`;
      return rows.map((row) => row.id);
    };
    return {
      plans: await ids('plans', 'plan_id'),
      customers: await ids('customers', 'customer_id'),
      subscriptions: await ids('subscriptions', 'subscription_id'),
      payments: await ids('payments', 'payment_id'),
    };
  }

  const everything = {
    plans: [11],
    customers: range(1, 10),
    subscriptions: range(1, 10),
    payments: range(1, 10),
  };
  const deleted = { kind: 'deleted', plansInUse: 0, newer: 0, shrunk: [] };

  test('deletes what it does not contain, with its payments and customers', async () => {
    const shop = await filledShop();
    const { counts, outcome } = await complete(shop, subscriptions(3, 11));
    assert.deepEqual(counts, {
      subscription: { ...none, stored: 1, unchanged: 8, deleted: 2 },
    });
    assert.deepEqual(outcome, { ...deleted, deleted: { subscription: 2 } });
    assert.deepEqual(await storedIds(shop), {
      plans: [11],
      customers: range(3, 11),
      subscriptions: range(3, 11),
      payments: range(3, 10),
    });
    const again = await complete(shop, subscriptions(3, 11));
    assert.deepEqual(again.counts, { subscription: { ...none, unchanged: 9 } });
  });

  test('leaves types alone that it does not contain', async () => {
    const shop = await filledShop();
    await importAll(store, shop, [session(1)]);
    const { outcome } = await complete(shop, payments(2, 10));
    assert.deepEqual(outcome, { ...deleted, deleted: { payment: 1 } });
    assert.deepEqual(await storedIds(shop), { ...everything, payments: range(2, 10) });
  });

  test('deletes only of the named types, and all of one that is not there', async () => {
    const shop = await filledShop();
    const named = await complete(shop, [...subscriptions(1, 9), ...payments(1, 9)], {
      types: ['payment'],
    });
    assert.deepEqual(named.outcome, { ...deleted, deleted: { payment: 1 } });
    const types = ['payment'] as const;
    const absent = await complete(shop, subscriptions(1, 9), { types, allowShrink: true });
    assert.deepEqual(absent.counts['payment'], { ...none, deleted: 9 });
    assert.deepEqual(await storedIds(shop), { ...everything, payments: [] });
  });

  test('does not delete more than a fifth of a type unless that is allowed', async () => {
    const shop = await filledShop();
    const records = [...subscriptions(4, 11), ...payments(3, 10)];
    const { counts, outcome } = await complete(shop, records);
    assert.deepEqual(outcome, {
      kind: 'shrunk',
      shrunk: [{ type: 'subscription', gone: 3, before: 10 }],
    });
    assert.deepEqual(counts['subscription'], { ...none, stored: 1, unchanged: 7 });
    assert.deepEqual((await storedIds(shop)).subscriptions, range(1, 11));

    const allowed = await complete(shop, records, { allowShrink: true });
    assert.deepEqual(allowed.counts['subscription'], { ...none, unchanged: 8, deleted: 3 });
    assert.deepEqual((await storedIds(shop)).payments, range(4, 10));
  });

  test('keeps plans that subscriptions are on, and counts them as there', async () => {
    const shop = await filledShop();
    await importAll(
      store,
      shop,
      range(12, 20).map((id) => plan({ id })),
    );
    const { outcome } = await complete(
      shop,
      range(12, 19).map((id) => plan({ id })),
    );
    assert.deepEqual(outcome, { ...deleted, deleted: { plan: 1 }, plansInUse: 1 });
    assert.deepEqual((await storedIds(shop)).plans, range(11, 19));
  });

  test('counts refused and stale lines as contained', async () => {
    const shop = await filledShop();
    const newer = '2026-11-19T00:00:00Z';
    await importAll(store, shop, [subscription(1, { customerId: 1, updatedAt: newer })]);
    const { counts, outcome } = await complete(shop, [
      subscription(1, { customerId: 1, updatedAt: '2026-11-18T00:00:00Z' }),
      subscription(2, { customerId: 2, planId: 404 }),
      { type: 'subscription', id: 3 },
      ...subscriptions(4, 10),
    ]);
    assert.deepEqual(counts, { subscription: { ...none, stale: 1, refused: 2, unchanged: 7 } });
    assert.deepEqual(outcome, { ...deleted, deleted: {} });
    assert.deepEqual(await storedIds(shop), everything);
  });

  test('deletes nothing if a line has no id that can be read', async () => {
    const shop = await filledShop();
    for (const line of ['{"type":"subscription","id":"x"}', 'no JSON', '{"type":"visit","id":1}']) {
      const { outcome } = await complete(shop, [...subscriptions(1, 9), line]);
      assert.deepEqual(outcome, { kind: 'unreadable', lines: 1, first: 'test:10' }, line);
    }
    assert.deepEqual(await storedIds(shop), everything);
  });

  test('deletes nothing if it is interrupted', async () => {
    const shop = await filledShop();
    const signal = AbortSignal.abort(new Error('stopped here'));
    await assert.rejects(complete(shop, subscriptions(2, 10), {}, { signal }), /stopped here/);
    assert.deepEqual(await storedIds(shop), everything);
  });

  test('deletes nothing if the connection is lost while it deletes', async () => {
    const shop = await filledShop();
    const snapshot = new Snapshot({ allowShrink: false });
    const { write } = store;
    const deleteMissing = snapshot.deleteMissing.bind(snapshot);
    snapshot.deleteMissing = (run) => {
      const begin = (work: (tx: Transaction) => Promise<unknown>) =>
        write.begin(async (tx) => {
          await work(tx);
          throw new Error('lost');
        });
      return deleteMissing({ ...run, sql: Object.assign(Object.create(write), { begin }) as Sql });
    };
    const records = [...subscriptions(2, 10), ...payments(2, 10)];
    await assert.rejects(importSnapshot(store, shop, records, snapshot), /lost/);
    assert.deepEqual(await storedIds(shop), everything);
  });

  test('keeps what is stored meanwhile from elsewhere', async () => {
    const shop = await filledShop();
    const snapshot = new Snapshot({ allowShrink: false });
    const note = snapshot.note.bind(snapshot);
    // Between reading and deleting.
    let isStored = false;
    snapshot.note = async (...line) => {
      await note(...line);
      if (!isStored) await importAll(store, shop, subscriptions(11, 11));
      isStored = true;
    };
    await importSnapshot(store, shop, subscriptions(2, 10), snapshot);
    assert.deepEqual((await storedIds(shop)).subscriptions, range(2, 11));
  });

  test('keeps what is known from later than the export', async () => {
    const shop = await filledShop();
    const dated = (day: string) =>
      subscriptions(1, 10).map((each) => ({ ...each, exportedAt: `2026-11-${day}T00:00:00Z` }));
    await complete(shop, dated('10'), {}, { isFromFeed: true });
    const older = await complete(shop, dated('09').slice(1), {}, { isFromFeed: true });
    assert.deepEqual(older.outcome, { ...deleted, deleted: {}, newer: 1 });
    const later = await complete(shop, dated('11').slice(1), {}, { isFromFeed: true });
    assert.deepEqual(later.outcome, { ...deleted, deleted: { subscription: 1 } });
  });

  test('is a normal import without records', async () => {
    const shop = await filledShop();
    assert.deepEqual(await complete(shop, []), {
      counts: {},
      outcome: { ...deleted, deleted: {} },
    });
    assert.deepEqual(await storedIds(shop), everything);
  });
});
