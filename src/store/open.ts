import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../errors.ts';
import { type Sql, connect } from './database.ts';
import { openEmbedded } from './embedded/open.ts';
import { Entitlements } from './entitlements.ts';

/** Where the data is kept: a PostgreSQL server, or the embedded one with the same SQL. */
export interface Store {
  /** Short look-ups of requests, pipelined on one connection that cannot write. */
  readonly read: Sql;
  /** The most frequent of them, read through `read`. */
  readonly entitlements: Entitlements;
  /** Longer computations of requests, apart so that they hold up nothing; cannot write either. */
  readonly analyse: Sql;
  readonly write: Sql;
  /** Settles, with the reason, only if the database is lost for good. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Shown to whoever finds the embedded database held. */
  readonly role: 'serve' | 'command';
}

const retryMilliseconds = 250;
const attempts = 40;

/**
 * Opens the store without migrating it.
 * @throws CommandError when the embedded database is needed for itself and another process holds it
 */
export async function openStore(options: StoreOptions, attemptsLeft = attempts): Promise<Store> {
  const { databaseUrl, dataDir, role } = options;
  if (databaseUrl !== undefined) {
    const { close, ...connections } = connectAll(databaseUrl);
    return { ...connections, failed: new Promise(() => {}), close };
  }

  const embedded = await openEmbedded(dataDir, { role });
  if (role === 'serve' && !embedded.owned) {
    const { pid, role: holder } = embedded.holder;
    if (holder === 'command' && attemptsLeft > 0) {
      // Most commands take a moment only.
      await sleep(retryMilliseconds);
      return openStore(options, attemptsLeft - 1);
    }
    throw new CommandError(
      `The embedded database in ${dataDir} is held by process ${pid} (${
        holder === 'serve' ? 'a running server' : 'a running command'
      }). Stop that process first, choose another RETENTION_DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.`,
    );
  }
  const { close, ...connections } = connectAll(embedded.socketPath);
  return {
    ...connections,
    failed: embedded.failed,
    async close() {
      await close();
      await embedded.close();
    },
  };
}

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function connectAll(target: string): Omit<Store, 'failed'> {
  const read = connect(target, {
    name: 'read',
    connections: 1,
    readOnly: true,
    byIndexOnly: true,
    statementTimeoutMilliseconds: 5_000,
  });
  const analyse = connect(target, {
    name: 'analyse',
    connections: 2,
    readOnly: true,
    statementTimeoutMilliseconds: 30_000,
  });
  const write = connect(target, {
    name: 'write',
    connections: 4,
    statementTimeoutMilliseconds: 0,
  });
  return {
    read,
    entitlements: new Entitlements(read),
    analyse,
    write,
    async close() {
      await Promise.all([read, analyse, write].map((sql) => sql.end({ timeout: 5 })));
    },
  };
}
