import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { acquireLock } from './embedded/lock.ts';
import type { Sql } from './database.ts';

interface DatabaseLocation {
  /** Undefined means the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

type Reserved = Awaited<ReturnType<Sql['reserve']>>;
type Release = () => Promise<void>;

/**
 * Makes this process the only one that does a kind of work for a shop. Locks end with the process, whatever ends it;
 * they are also lost if the database server restarts: use them only to avoid duplicate work, never for correctness.
 */
export class ShopLocks {
  readonly #sql: Sql;
  readonly #location: DatabaseLocation;
  readonly #held = new Set<string>();
  /** One connection has all locks. It is returned when there are none. */
  #session: Promise<Reserved> | undefined;

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
      if (!release) await this.#forget(key);
    }
    return (
      release &&
      (async () => {
        await release();
        await this.#forget(key);
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
    this.#session ??= this.#sql.reserve();
    const session = await this.#session;
    const [row] = await session<{ isMine: boolean }[]>`
      select pg_try_advisory_lock(hashtextextended(${key}, 0)) as "isMine"`;
    if (row?.isMine !== true) return undefined;
    return async () => {
      // If the connection was lost, so was the lock.
      await session`select pg_advisory_unlock(hashtextextended(${key}, 0))`.catch(() => {});
    };
  }

  async #forget(key: string): Promise<void> {
    this.#held.delete(key);
    if (this.#held.size > 0) return;
    const session = this.#session;
    this.#session = undefined;
    await session?.then(
      (reserved) => reserved.release(),
      () => {},
    );
  }
}
