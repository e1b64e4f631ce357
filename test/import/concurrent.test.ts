import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import type { Store } from '../../src/store/open.ts';
import { assertSameShop } from '../model/dump.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';

const records = [
  ...generateShop({
    subscriptions: 200,
    seed: 9,
    endAt: Date.parse(now),
    currency: 'USD',
    minorDigits: 2,
  }),
];

/** The same records, starting from a later one. */
const rotated = (places: number) => [...records.slice(places), ...records.slice(0, places)];
const quarter = Math.floor(records.length / 4);

onEveryDatabase('concurrent imports', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('of the same records in four orders store what one import stores', async () => {
    const [shop, other] = [await createShop(store), await createShop(store)];
    const orders = [
      records,
      rotated(quarter),
      rotated(2 * quarter),
      rotated(3 * quarter).toReversed(),
    ];
    const imported = await Promise.all(orders.map((order) => importAll(store, shop, order)));
    await importAll(store, other, records);

    assert.deepEqual(
      imported.flatMap(({ refused }) => refused),
      [],
    );
    for (const type of ['plan', 'subscription', 'payment', 'refund', 'cancellation']) {
      const { length } = records.filter((record) => record.type === type);
      const sum = (what: 'stored' | 'unchanged') =>
        imported.reduce((total, { counts }) => total + (counts[type]?.[what] ?? 0), 0);
      assert.deepEqual([sum('stored'), sum('unchanged')], [length, 3 * length]);
    }
    await assertSameShop(store.write, shop.id, other.id);
  });

  test('into different shops do not affect each other', async () => {
    const shops = await Promise.all([1, 2, 3].map(() => createShop(store)));
    await Promise.all(shops.map((shop) => importAll(store, shop, records)));
    const [first, ...others] = shops.map(({ id }) => id);
    for (const id of others) await assertSameShop(store.write, id, first ?? 0);
  });
});
