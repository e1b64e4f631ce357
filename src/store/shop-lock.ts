import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { acquireLock } from './embedded/lock.ts';
import type { Sql } from './database.ts';

interface DatabaseLocation {
  /** Undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/**
 * Makes this process the only one that does a kind of work for a shop, until the returned function is
 * called or the process exits for any reason. The lock is also lost if the database server restarts: use it
 * only to avoid duplicate work, never for correctness.
 * @returns undefined if another process has the lock
 */
export async function lockShop(
  sql: Sql,
  { databaseUrl, dataDir }: DatabaseLocation,
  work: string,
  shopId: number,
): Promise<(() => Promise<void>) | undefined> {
  if (databaseUrl === undefined) {
    // In the embedded database all processes share one session, which can take any lock twice.
    const folder = path.join(dataDir, `${work}-${shopId}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = acquireLock(folder);
    return lock && (async () => lock.release());
  }
  const session = await sql.reserve();
  const key = `retention ${work} ${shopId}`;
  try {
    const [row] = await session<{ isMine: boolean }[]>`
      select pg_try_advisory_lock(hashtextextended(${key}, 0)) as "isMine"`;
    if (row?.isMine !== true) {
      session.release();
      return undefined;
    }
  } catch (error) {
    session.release();
    throw error;
  }
  return async () => {
    // If the connection was lost, so was the lock.
    await session`select pg_advisory_unlock(hashtextextended(${key}, 0))`.catch(() => {});
    session.release();
  };
}
