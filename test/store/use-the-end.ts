import assert from 'node:assert/strict';
import { beginDeletion, countOwnersOfOnly, deleteShop } from '../../src/store/shop-deletion.ts';
import { prune } from '../../src/store/retention.ts';
import { countRows } from '../../src/store/shop-tables.ts';
import { requireHere, updateKeepMonths } from '../../src/store/shops.ts';
import { type Store, openStore } from '../../src/store/open.ts';
import { bringShop, copyShopTo, findWhereMoved, requireAlike } from '../../src/store/moves/move.ts';
import { migratedFolder } from '../cli/process.ts';
import { exportAll, importExport } from '../import/exported.ts';
import { createShop, now, type TestShop } from '../support/world.ts';

/** The export of a shop that has records of all types, how long records are kept, a move, and the deletion of it. */
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
  await useMove(store, other.id);
  await beginDeletion(store.write, shop.id, new Date(now));
  await deleteShop(store.write, shop.id, { by: { who: 'service' }, at: new Date() });
}

/** A copy to another database, and a move, whose rest here is deleted. */
async function useMove(store: Store, shopId: number): Promise<void> {
  const dataDir = migratedFolder();
  const there = await openStore({ databaseUrl: undefined, dataDir, role: 'command' });
  const options = {
    shopId,
    address: 'elsewhere:5432/retention',
    isEmbedded: store.address.startsWith('/'),
    by: { who: 'service' },
    at: new Date(now),
    progress: () => {},
    reseal: () => ({}),
    check: async () => {},
  };
  try {
    await requireAlike(store.write, there.write, options.address);
    await copyShopTo(store.write, there.write, options);
    await deleteShop(there.write, shopId, options);
    await bringShop(store.write, there.write, options);
    await beginDeletion(store.write, shopId, new Date(now), { hasMoved: true });
    await assert.rejects(requireHere(store.write, shopId), /has moved to elsewhere/);
    assert.ok((await countRows(there.write, 'subscriptions', shopId)) > 0);
  } finally {
    await there.close();
  }
  await deleteShop(store.write, shopId, {
    ...options,
    movedTo: options.address,
    check: async (tx) => void (await tx.script("set local retention.moves_rows = 'on'")),
  });
  assert.equal(await findWhereMoved(store.write, shopId), options.address);
}
