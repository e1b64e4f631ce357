import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openEmptyStore } from '../../src/store/empty-store.ts';
import { listMissingMigrations } from '../../src/store/migrate.ts';
import { listShops } from '../../src/store/shops.ts';
import { throwawayFolder } from '../cli/process.ts';
import { createShop } from '../support/world.ts';

/** Opens one, which must be empty, and leaves a shop in it. */
async function useOne(cache: string): Promise<void> {
  const store = await openEmptyStore(path.join(throwawayFolder(), 'data'), cache);
  try {
    assert.deepEqual(await listMissingMigrations(store.write), []);
    assert.equal((await listShops(store.write)).length, 0);
    await createShop(store);
  } finally {
    await store.close();
  }
}

describe('an empty database', () => {
  test('is a copy of the first, which is kept as it was created', async () => {
    const cache = throwawayFolder();
    await useOne(cache);
    const kept = readdirSync(cache);
    assert.match(kept.join(), /^database-[\da-f]{16}$/);
    await useOne(cache);
    await useOne(cache);
    assert.deepEqual(readdirSync(cache), kept);
  });

  test('is created where none can be kept', async () => {
    const nowhere = path.join(throwawayFolder(), 'missing');
    await useOne(nowhere);
    assert.equal(existsSync(nowhere), false);
  });
});
