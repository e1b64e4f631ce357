import { setTimeout as sleep } from 'node:timers/promises';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Sql, Transaction } from './database.ts';
import { acquireLock } from './embedded/folder.ts';

const pollMilliseconds = 30;

/** A backend that holds a lock, from pg_stat_activity. */
interface Holder {
  readonly pid: number;
  readonly program: string;
  /** Age of its transaction; null if this login may not see it. */
  readonly seconds: number | null;
}

/**
 * Finds, on another connection, the backends that block the given one. The server can name them only
 * while it waits.
 * @param signal stops the search when the backend no longer waits
 * @returns undefined if none was found by then
 */
export async function findLockHolders(
  sql: Sql,
  backend: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const holders = await sql<Holder[]>`
      select pid, coalesce(nullif(application_name, ''), backend_type, 'unknown program') as program,
        extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity
      where pid = any(pg_blocking_pids(${backend}))
      order by xact_start nulls last, pid`;
    if (holders.length > 0) return describe(holders);
    await sleep(pollMilliseconds);
  }
  return undefined;
}

function describe(holders: readonly Holder[]): string {
  return holders
    .map(({ pid, program, seconds }) => {
      const age = seconds === null ? '' : `, in a transaction for ${seconds} s`;
      return `process ${pid} (${program}${age})`;
    })
    .join(' and ');
}

/** Arbitrary, but the same in every version, so that migrating processes wait for each other. */
const lockId = 7_370_110_274;

/** Excludes other processes that change the schema or its privileges, until the transaction ends. */
export async function lockMigrations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockId})`;
}

interface DatabaseLocation {
  /** Undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

type Release = () => Promise<void>;

/** A connection with locks, and how many it has or is asked for. */
interface Session {
  readonly reserved: ReturnType<Sql['reserve']>;
  locks: number;
}

/**
 * Makes this process the only one that does a kind of work for a shop. Locks end with the process, whatever ends it;
 * they are also lost if the database server restarts: use them only to avoid duplicate work, never for correctness.
 */
export class ShopLocks {
  readonly #sql: Sql;
  readonly #location: DatabaseLocation;
  readonly #held = new Set<string>();
  /** One connection has all locks, and is returned with the last. One that fails is asked for no more. */
  #session: Session | undefined;

  constructor(sql: Sql, location: DatabaseLocation) {
    this.#sql = sql;
    this.#location = location;
  }

  /** @returns a function that gives the lock back; undefined if somebody has it */
  async lock(work: string, shopId: number): Promise<Release | undefined> {
    const key = `retention ${work} ${shopId}`;
    // The same session, or process, could take it again.
    if (this.#held.has(key)) return undefined;
    this.#held.add(key);
    let release: Release | undefined;
    try {
      release =
        this.#location.databaseUrl === undefined
          ? this.#lockFolder(`${work}-${shopId}`)
          : await this.#lockInDatabase(key);
    } finally {
      if (!release) this.#held.delete(key);
    }
    return (
      release &&
      (async () => {
        await release();
        this.#held.delete(key);
      })
    );
  }

  /** In the embedded database all processes share one session, which can take any lock twice. */
  #lockFolder(name: string): Release | undefined {
    const folder = path.join(this.#location.dataDir, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = acquireLock(folder);
    return lock && (async () => lock.release());
  }

  async #lockInDatabase(key: string): Promise<Release | undefined> {
    const session = (this.#session ??= { reserved: this.#sql.reserve(), locks: 0 });
    session.locks += 1;
    let isMine = false;
    try {
      const sql = await session.reserved;
      const [row] = await sql<{ isMine: boolean }[]>`
        select pg_try_advisory_lock(hashtextextended(${key}, 0)) as "isMine"`;
      isMine = row?.isMine === true;
      if (!isMine) return undefined;
      return async () => {
        // If the connection was lost, so was the lock.
        await sql`select pg_advisory_unlock(hashtextextended(${key}, 0))`.catch(() => {});
        this.#leave(session, sql);
      };
    } catch (error) {
      if (this.#session === session) this.#session = undefined;
      throw error;
    } finally {
      if (!isMine) await session.reserved.then((sql) => this.#leave(session, sql)).catch(() => {});
    }
  }

  #leave(session: Session, sql: Awaited<Session['reserved']>): void {
    session.locks -= 1;
    if (session.locks > 0) return;
    if (this.#session === session) this.#session = undefined;
    sql.release();
  }
}
