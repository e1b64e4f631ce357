import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GroupedWrites } from '../../src/store/keys/grouped-writes.ts';
import type { Transaction } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop } from '../support/world.ts';

onEveryDatabase('small writes of many shops', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('share transactions of a hundred, in the order of their shops', async () => {
    const writes = new GroupedWrites(store.write);
    const ran: [transaction: string, shopId: number][] = [];
    const add = (shopId: number) =>
      writes.add(shopId, '', async (tx) => {
        const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`;
        ran.push([row?.id ?? '', shopId]);
      });
    await Promise.all(Array.from({ length: 250 }, (_, place) => add(250 - place)));
    const groups = [...Map.groupBy(ran, ([transaction]) => transaction).values()];
    assert.deepEqual(
      groups.map((group) => group.length),
      [100, 100, 50],
    );
    assert.deepEqual(
      groups.map(([first]) => first?.[1]),
      [151, 51, 1],
    );
    for (const group of groups) {
      const shopIds = group.map(([, shopId]) => shopId);
      assert.deepEqual(
        shopIds,
        shopIds.toSorted((a, b) => a - b),
      );
    }
  });

  test('are stored, though the server refuses one among them', async () => {
    const shop = await createShop(store);
    const writes = new GroupedWrites(store.write);
    const name = (text: string) => (tx: Transaction) =>
      tx`update shops set name = name || ${text} where shop_id = ${shop.id}`;
    const results = await Promise.allSettled([
      writes.add(shop.id, 'a', name(', one')),
      writes.add(shop.id, 'b', (tx) => tx`select 1 / 0`),
      writes.add(shop.id, 'c', name(', two')),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const [row] = await store.write`select name from shops where shop_id = ${shop.id}`;
    assert.deepEqual({ ...row }, { name: 'Test, one, two' });
  });
});
