import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Sql, connect } from './database.ts';
import { openEmbedded } from './embedded/open.ts';
import {
  type ReadConnections,
  connectForReading,
  listConnections,
} from './connections/read-connections.ts';
import { reach } from './connections/reach.ts';
import { type ReplicaState, Replicas } from './replicas/replicas.ts';

/** Where the data is kept: a PostgreSQL server, or the embedded one with the same SQL. */
export interface Store {
  /** Reads what is committed: keys, readiness, and whatever commands show. */
  readonly primary: ReadConnections;
  readonly write: Sql;
  /** For the jobs that follow webhooks: nobody else waits behind them. Opened when first used. */
  readonly jobs: Sql;
  /**
   * Runs work of a request that only reads. What was committed 2 seconds before is seen, what came
   * later perhaps not: it may run on a standby, and once more on the primary if that one fails.
   */
  readRecent<Result>(work: (from: ReadConnections) => Promise<Result>): Promise<Result>;
  /** The standbys of the configuration, each as it is at the moment one looks. */
  readonly replicas: readonly ReplicaState[];
  /** Settles, with the reason, only if the database is lost for good. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Shown to whoever finds the embedded database held. */
  readonly role: 'serve' | 'command';
  /** The same server by a login that may only select: all that serves requests then reads by it. */
  readonly serveUrl?: string | undefined;
  /** Only a server reads from standbys; the embedded database has none. */
  readonly replication?: Replication | undefined;
}

interface Replication {
  /** An address each. */
  readonly standbys: readonly string[];
  readonly log: Log;
}

/** For what is under way when the store is closed. */
const closeSeconds = 5;
const retryMilliseconds = 250;
const attempts = 40;

/**
 * Opens the store without migrating it.
 * @throws CommandError when the server cannot be used, or the embedded database is needed for itself
 * and another process holds it
 */
export async function openStore(options: StoreOptions, attemptsLeft = attempts): Promise<Store> {
  const { databaseUrl, dataDir, role, replication, serveUrl } = options;
  if (databaseUrl !== undefined) {
    const connections = connectAll(databaseUrl, { replication, serveUrl });
    try {
      await reach(connections.write, 'DATABASE_URL', databaseUrl);
    } catch (error) {
      await connections.close();
      throw error;
    }
    return { ...connections, failed: new Promise(() => {}) };
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
export function connectAll(
  target: string,
  { replication, serveUrl = target }: Pick<StoreOptions, 'replication' | 'serveUrl'> = {},
): Omit<Store, 'failed'> {
  const primary = connectForReading(serveUrl);
  const write = connect(target, {
    name: 'write',
    connections: 4,
    statementTimeoutMilliseconds: 0,
  });
  const jobs = connect(target, {
    name: 'jobs',
    connections: 2,
    statementTimeoutMilliseconds: 30_000,
  });
  const replicas = replication?.standbys.length
    ? new Replicas(target, primary, replication)
    : undefined;
  return {
    primary,
    write,
    jobs,
    readRecent: (work) => (replicas ? replicas.read(work) : work(primary)),
    replicas: replicas?.states ?? [],
    async close() {
      const all = [...listConnections(primary), write, jobs];
      await Promise.all([replicas?.close(), ...all.map((sql) => sql.end(closeSeconds))]);
    },
  };
}
