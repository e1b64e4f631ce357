import path from 'node:path';
import { CommandError } from '../errors.ts';
import type { Sql } from './database.ts';
import { findShortage, newDatabaseBytes, reserveBytes } from './embedded/disk-space.ts';
import { migrate } from './migrate.ts';
import { type Store, openStore } from './open.ts';
import { type CopyOptions, copyShop } from './shop-copy.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/**
 * Runs work on a copy of a shop, in an embedded database in the temporary folder that is removed afterwards.
 * @throws CommandError if the shop changes all the time, or if the disk is full
 */
export async function withShopCopy<T>(
  sql: Sql,
  options: CopyOptions,
  work: (copy: Store) => Promise<T>,
): Promise<T> {
  const folder = createTemporaryFolder('copy');
  try {
    const shortage = findShortage(folder.path, reserveBytes + newDatabaseBytes);
    if (shortage !== undefined) {
      throw new CommandError(`${shortage} Or set TMPDIR to a folder on a larger disk.`);
    }
    const dataDir = path.join(folder.path, 'data');
    const copy = await openStore({ databaseUrl: undefined, dataDir, role: 'command' });
    try {
      await migrate(copy.write);
      await copyShop(sql, copy.write, options);
      return await work(copy);
    } finally {
      await copy.close();
    }
  } finally {
    folder.remove();
  }
}
