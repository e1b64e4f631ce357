import assert from 'node:assert/strict';
import { beginDeletion, countOwnersOfOnly, deleteShop } from '../../src/store/shop-deletion.ts';
import { prune } from '../../src/store/retention.ts';
import { countRows } from '../../src/store/shop-tables.ts';
import { updateKeepMonths } from '../../src/store/shops.ts';
import type { Store } from '../../src/store/open.ts';
import { exportAll, importExport } from '../import/exported.ts';
import { createShop, now, type TestShop } from '../support/world.ts';

/** The export of a shop that has records of all types, how long records are kept, and the deletion of it. */
export async function useTheEnd(store: Store, shop: TestShop): Promise<void> {
  const lines = await exportAll(store, shop.id);
  const other = await createShop(store);
  assert.deepEqual(await importExport(store, other, lines), []);
  // Of a table with one index: others may be counted by any of theirs.
  assert.ok((await countRows(store.write, 'customers', other.id)) > 0);
  await countOwnersOfOnly(store.write, other.id);
  const keep = { subscription: 1, payment: 1, cancellation: 1 };
  await updateKeepMonths(store.write, other.id, keep);
  const options = { now: Date.parse(now) };
  const counted = await prune(store.write, other.id, keep, { ...options, isDryRun: true });
  assert.ok(Object.values(counted).every((count) => count > 0));
  const deleted = await prune(store.write, other.id, keep, options);
  assert.equal(deleted.subscription, counted.subscription);
  for (const { id } of [other, shop]) {
    await beginDeletion(store.write, id, new Date(now));
    await deleteShop(store.write, id, { by: { who: 'service' }, at: new Date() });
  }
}
