import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { acquireLock } from './embedded/lock.ts';
import type { Sql } from './database.ts';

interface Where {
  /** Whose database it is; undefined means the embedded one in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/**
 * Makes this process the only one that does a kind of work for a shop, until what is returned is
 * called or the process ends, however it ends. If the server of the database goes away meanwhile, so
 * does the lock: it keeps work from being done twice, and nothing may rely on it for more.
 * @returns undefined where another process has it
 */
export async function lockShop(
  sql: Sql,
  { databaseUrl, dataDir }: Where,
  work: string,
  shopId: number,
): Promise<(() => Promise<void>) | undefined> {
  if (databaseUrl === undefined) {
    // To the embedded database all processes are one session, which would have any lock already.
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
    // Where the connection was lost, so was the lock.
    await session`select pg_advisory_unlock(hashtextextended(${key}, 0))`.catch(() => {});
    session.release();
  };
}
