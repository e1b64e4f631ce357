import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { assertSameShop, dumpShop } from '../model/dump.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';

const before1 = '2026-11-01T00:00:00Z';
const before2 = '2026-11-02T00:00:00Z';
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

/** Each type of record in its first version, and the changes of a later one. */
const versions = [
  [plan({ name: 'Old' }), { name: 'New' }],
  [
    subscription(1001, { updatedAt: null }),
    { status: 'paused', statusEvents: [{ at: before1, to: 'paused' }] },
  ],
  [
    {
      type: 'payment',
      id: 9001,
      subscriptionId: 1001,
      cycle: '1',
      status: 'pending',
      amount: '30.60',
      processedAt: before1,
    },
    { status: 'failed', failureCode: 'card_declined' },
  ],
  [
    { type: 'refund', id: 71, paymentId: 9001, amount: '10.00', refundedAt: before1 },
    { amount: '9.99' },
  ],
  [session(7001, { subscriptionId: 1001 }), { outcome: 'saved' }],
] as const;
const types = ['plan', 'subscription', 'payment', 'refund', 'cancellation'];

const first = versions.map(([record]) => record);
const later = versions.map(([record, change]) => ({ ...record, ...change }));
const at = (updatedAt: string, records: readonly object[]) =>
  records.map((record) => ({ ...record, updatedAt }));
/** The counts of a run in which one record of each type had the same outcome. */
const all = (what: keyof typeof none) =>
  Object.fromEntries(types.map((type) => [type, { ...none, [what]: 1 }]));

onOneDatabase('a repeated import', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Imports runs one after the other, and checks the outcome and the state after each. */
  async function imports(
    ...runs: readonly { run: readonly object[]; is: keyof typeof none; as?: readonly object[] }[]
  ) {
    const shop = await createShop(store);
    for (const { run, is, as } of runs) {
      assert.deepEqual((await importAll(store, shop, run)).counts, all(is));
      if (!as) continue;
      const other = await createShop(store);
      await importAll(store, other, as);
      // When the subscription had been seen before is known only where it was.
      await store.write`
        update subscriptions set past_values = null where shop_id in (${shop.id}, ${other.id})`;
      await assertSameShop(store.write, shop.id, other.id);
    }
  }

  test('of the same file changes nothing', async () => {
    const records = [
      ...generateShop({
        subscriptions: 60,
        seed: 5,
        endAt: Date.parse(now),
        currency: 'USD',
        minorDigits: 2,
      }),
    ];
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const dump = await dumpShop(store.write, shop.id);
    const { counts } = await importAll(store, shop, records);
    assert.deepEqual(await dumpShop(store.write, shop.id), dump);
    for (const type of types) {
      const { length } = records.filter((record) => record.type === type);
      assert.ok(length > 0);
      assert.deepEqual(counts[type], { ...none, unchanged: length });
    }
  });

  test('stores the last version if records have no updatedAt', () =>
    imports(
      { run: first, is: 'stored' },
      { run: first, is: 'unchanged', as: first },
      { run: later, is: 'replaced', as: later },
      { run: first, is: 'replaced', as: first },
    ));

  test('stores the newest version by updatedAt', () =>
    imports(
      { run: at(before1, first), is: 'stored' },
      { run: at(before2, later), is: 'replaced', as: at(before2, later) },
      { run: at(before1, first), is: 'stale', as: at(before2, later) },
      { run: at(before2, later), is: 'unchanged', as: at(before2, later) },
    ));

  test('stores the last of two versions with the same updatedAt', () =>
    imports(
      { run: at(before1, first), is: 'stored' },
      { run: at(before1, later), is: 'replaced', as: at(before1, later) },
    ));

  test('replaces the same content with a newer updatedAt', () =>
    imports(
      { run: at(before1, first), is: 'stored' },
      { run: at(before2, first), is: 'replaced', as: at(before2, first) },
      { run: at(before1, first), is: 'stale' },
    ));

  test('lets a record without updatedAt replace one with it, and vice versa', () =>
    imports(
      { run: at(before2, first), is: 'stored' },
      { run: later, is: 'replaced', as: later },
      { run: at(before1, first), is: 'replaced', as: at(before1, first) },
    ));

  test('treats another spelling of the same record as unchanged', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [
      plan({ groupName: null, active: true, productIds: [] }),
      subscription(1001, { createdAt: '2026-11-01T00:00:00Z', nextBillingDate: null }),
    ]);
    const { counts } = await importAll(store, shop, [
      plan(),
      subscription(1001, { createdAt: '2026-11-01T05:30:00.000999+05:30', statusEvents: [] }),
    ]);
    assert.deepEqual(counts, {
      plan: { ...none, unchanged: 1 },
      subscription: { ...none, unchanged: 1 },
    });
  });
});
