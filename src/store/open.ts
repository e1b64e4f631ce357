import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { findCitusVersion } from './cluster/cluster.ts';
import { type Committed, type Sql, connect } from './database.ts';
import { openEmbedded } from './embedded/open.ts';
import {
  type ReadConnections,
  ShopConnections,
  connectForReading,
  listConnections,
} from './connections/read-connections.ts';
import { type ReplicaState, Replicas } from './replicas/replicas.ts';
import { addressOf, isOtherLogin, nameOf } from '../config/database-url.ts';

/** The data store: a PostgreSQL server, or the embedded one, with the same SQL. */
export interface Store {
  /** Where the database is, for other processes: an address, or the path of a socket. */
  readonly address: string;
  /** Reads committed data: keys, readiness, and what commands show. */
  readonly primary: ReadConnections;
  /** The same, for reading rows of one shop. */
  primaryOf(shopId: number): ReadConnections;
  readonly write: Sql;
  /** Only for jobs, so that nothing else waits behind them. Opened on first use. */
  readonly jobs: Sql;
  /**
   * Runs read-only work of a request, on rows of one shop. It sees everything committed more than 2
   * seconds ago, but maybe not later changes: it may run on a standby or a worker, and again on the
   * primary if that fails.
   */
  readRecent<Result>(
    shopId: number,
    work: (from: ReadConnections) => Promise<Result>,
  ): Promise<Result>;
  /** The configured standbys and workers, with their current state. */
  readonly replicas: readonly ReplicaState[];
  /** Resolves with the reason if the database is permanently lost; otherwise stays pending. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Shown to a process that finds the embedded database in use. */
  readonly role: 'serve' | 'command';
  /** Called if other commands keep this one from closing the embedded database. */
  readonly onWait?: (() => void) | undefined;
  /** The same server with a read-only login, used for everything that serves requests. */
  readonly serveUrl?: string | undefined;
  /** Only servers read from standbys; the embedded database has none. */
  readonly replication?: Replication | undefined;
  /** Called with each entry of the audit log that this process has written. */
  readonly audited?: Committed | undefined;
}

interface Replication {
  /** One address per standby. */
  readonly standbys: readonly string[];
  readonly log: Log;
}

/** Time for running statements to finish when the store closes. */
const closeSeconds = 5;
const retryMilliseconds = 250;
const attempts = 40;

/**
 * Opens the store without migrating it.
 * @throws CommandError if the server cannot be used, or if `serve` needs the embedded database and another
 * process holds it
 */
export async function openStore(options: StoreOptions, attemptsLeft = attempts): Promise<Store> {
  const { databaseUrl, dataDir, role, replication, serveUrl, onWait, audited } = options;
  if (databaseUrl !== undefined) {
    const isOnCitus = await checkConnection('DATABASE_URL', databaseUrl);
    const isByShop = isOnCitus ? false : undefined;
    return connectAll(databaseUrl, { replication, serveUrl, audited, isByShop });
  }

  const embedded = await openEmbedded(dataDir, { role, onWait });
  if (role === 'serve' && !embedded.owned) {
    const { pid, role: holder } = embedded.holder;
    if (holder === 'command' && attemptsLeft > 0) {
      // Most commands take only a moment.
      await sleep(retryMilliseconds);
      return openStore(options, attemptsLeft - 1);
    }
    throw new CommandError(
      `The embedded database in ${dataDir} is held by process ${pid} (${
        holder === 'serve' ? 'a running server' : 'a running command'
      }). Stop that process first, choose another RETENTION_DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.`,
    );
  }
  const { close, ...connections } = connectAll(embedded.socketPath, {
    audited,
    isByShop: role === 'serve',
  });
  return {
    ...connections,
    failed: embedded.failed,
    async close() {
      await close();
      await embedded.close();
    },
  };
}

interface ConnectAllOptions extends Pick<StoreOptions, 'replication' | 'serveUrl' | 'audited'> {
  /** Whether what serves requests may see the rows of one shop at a time; by default, if it has a login of its own. */
  readonly isByShop?: boolean | undefined;
}

/** @param target an address (postgres://…), or the path of the embedded database's socket */
export function connectAll(
  target: string,
  { replication, serveUrl = target, audited, isByShop }: ConnectAllOptions = {},
): Store {
  const primary = connectForReading(serveUrl, {
    isByShop: isByShop ?? isOtherLogin(serveUrl, target),
  });
  const write = connect(target, {
    name: 'write',
    connections: 4,
    statementTimeoutMilliseconds: 0,
    committed: audited,
  });
  const jobs = connect(target, {
    name: 'jobs',
    // A shop's jobs take at most three: pushed batches, hints and duties of its platform.
    connections: 4,
    statementTimeoutMilliseconds: 30_000,
    committed: audited,
  });
  const replicas = replication?.standbys.length
    ? new Replicas(target, primary, { ...replication, isByShop: isByShop !== false })
    : undefined;
  return {
    address: target,
    primary,
    write,
    jobs,
    primaryOf: (shopId) => new ShopConnections(primary, shopId),
    readRecent(shopId, work) {
      const ofShop = (from: ReadConnections) => work(new ShopConnections(from, shopId));
      return replicas ? replicas.read(shopId, ofShop) : ofShop(primary);
    },
    replicas: replicas?.states ?? [],
    // A server that is away may come back.
    failed: new Promise(() => {}),
    async close() {
      const all = [...listConnections(primary), write, jobs];
      await Promise.all([replicas?.close(), ...all.map((sql) => sql.end(closeSeconds))]);
    },
  };
}

const unreachable =
  'Check that PostgreSQL is running there, and that the host and port are correct.';
const loginRejected = "Check the user and password, and the server's pg_hba.conf.";

/** What to do, by error code. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  NO_ANSWER: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  '28000': loginRejected,
  '28P01': loginRejected,
  '3D000': 'Create the database, or correct its name.',
  '57P03': 'Wait until it is up, then try again.',
};

/**
 * Connects once, to report early and clearly that a database cannot be used.
 * @param variable that the address comes from
 * @returns whether it is on Citus
 * @throws CommandError that names the variable, host, port and database, but not the password
 */
export async function checkConnection(variable: string, address: string): Promise<boolean> {
  const sql = connect(address, { name: 'start', connections: 1, statementTimeoutMilliseconds: 0 });
  try {
    return (await findCitusVersion(sql)) !== undefined;
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    const { database } = addressOf(address);
    throw new CommandError(
      // If a host name has several addresses and none of them answers, the error has no message.
      `${variable}: PostgreSQL at ${nameOf(address)}/${database} cannot be used: ${message || code}. ` +
        (advice[code] ?? `Check the server's log and ${variable}.`),
      { cause: error },
    );
  } finally {
    await sql.end(0);
  }
}
