import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GroupedWrites } from '../../src/store/keys/grouped-writes.ts';
import { addKeyUses } from '../../src/store/keys/requests.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, createTestKey } from '../support/world.ts';

onEveryDatabase('small writes of many shops', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('share transactions of a thousand', async () => {
    const groups = new Map<string, number[]>();
    const writes = new GroupedWrites(store.write, async (tx, numbers: readonly number[]) => {
      const [row] = await tx<{ id: string }[]>`select pg_current_xact_id()::text as id`;
      groups.set(row?.id ?? '', [...numbers]);
    });
    const all = Array.from({ length: 2_500 }, (_, number) => number);
    await Promise.all(all.map((number) => writes.add(number)));
    assert.deepEqual(
      [...groups.values()].map(({ length }) => length),
      [1_000, 1_000, 500],
    );
    assert.deepEqual([...groups.values()].flat(), all);
  });

  test('are stored, though the server refuses one among them', async () => {
    const shop = await createShop(store);
    const writes = new GroupedWrites(store.write, async (tx, names: readonly string[]) => {
      for (const name of names) {
        await tx`update shops set name = name || ${name} where shop_id = ${shop.id}`;
        if (name === 'refused') await tx`select 1 / 0`;
      }
    });
    const results = await Promise.allSettled(
      [', one', 'refused', ', two'].map((name) => writes.add(name)),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const [row] = await store.write`select name from shops where shop_id = ${shop.id}`;
    assert.deepEqual({ ...row }, { name: 'Test, one, two' });
  });

  test('lock their rows in the order of shops and keys, so that instances cannot deadlock', async () => {
    const shops = [await createShop(store), await createShop(store)].toSorted(
      (a, b) => a.id - b.id,
    );
    const keys: { shopId: number; keyId: string }[] = [];
    for (const { id: shopId } of shops) {
      const made = [await createTestKey(store, shopId), await createTestKey(store, shopId)];
      keys.push(...made.map(({ id }) => ({ shopId, keyId: id })).toSorted(byKey));
    }
    const counts = [500, 404, 200].map((status) => ({
      hour: 498_660,
      operation: 'list_plans',
      status,
      requests: 1,
    }));
    const lastUsedAt = new Date();
    const uses = keys.toReversed().map((key) => ({ ...key, lastUsedAt, counts }));
    await store.write.begin((tx) => addKeyUses(tx, uses));
    for (const { id: shopId } of shops) {
      const ofShop = keys.filter((key) => key.shopId === shopId).map(({ keyId }) => keyId);
      // New rows lie in the order in which they were written; on a cluster, those of a shop do.
      const used = await store.write<{ id: string }[]>`
        select key_id as id from key_uses where shop_id = ${shopId} order by ctid`;
      assert.deepEqual(
        used.map(({ id }) => id),
        ofShop,
      );
      const counted = await store.write<{ id: string; status: number }[]>`
        select key_id as id, status from request_counts where shop_id = ${shopId} order by ctid`;
      assert.deepEqual(
        counted.map(({ id, status }) => `${id} ${status}`),
        ofShop.flatMap((id) => [200, 404, 500].map((status) => `${id} ${status}`)),
      );
    }
  });
});

const byKey = (one: { keyId: string }, other: { keyId: string }) =>
  one.keyId < other.keyId ? -1 : 1;
