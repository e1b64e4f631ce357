import postgres from 'postgres';
import { withoutTls } from '../database-url.ts';
import { renewed } from './renewed.ts';
import { type Sockets, hostOf } from './sockets.ts';
import { tlsOptionsOf } from './tls.ts';

interface CustomTypes extends Record<string, unknown> {
  bigint: number;
  date: Date | string;
}

/**
 * A connection, or a few, to PostgreSQL, real or embedded. Ids (bigint) come as numbers: they are at
 * most 2^53 - 1. Numeric stays text, since it must not pass through floating point.
 */
export type Sql = postgres.Sql<CustomTypes>;

/** A Sql inside one transaction. */
export type Transaction = postgres.TransactionSql<CustomTypes>;

export interface ConnectOptions {
  /** Connections at most; queries are pipelined on each. */
  readonly connections: number;
  /** The server refuses every write. */
  readonly readOnly?: boolean;
  /**
   * Every statement has an index that gives its rows, in their order. What the server believes of a
   * table that has grown since it last looked must not talk it into reading and sorting the whole.
   */
  readonly byIndexOnly?: boolean;
  /** How long one statement may run before the server cancels it; 0 for no limit. */
  readonly statementTimeoutMilliseconds: number;
  /** Shown in the server's list of activity. */
  readonly name: string;
  /** Whence the driver has its sockets, for whoever must be able to cut them off; of an address only. */
  readonly sockets?: Sockets;
  /** Called whenever a connection has been closed, by whichever side. */
  readonly closed?: () => void;
}

/**
 * @param target an address (postgres://…), or the path of the embedded database's socket
 * @throws CommandError when the address names a file with certificates that cannot be used
 */
export function connect(target: string, options: ConnectOptions): Sql {
  const isEmbedded = target.startsWith('/');
  const isOneHost = !isEmbedded && hasOneHost(target);
  const ssl = !isEmbedded && tlsOptionsOf(target, isOneHost ? hostOf(target).host : undefined);
  const settings = {
    max: options.connections,
    // Nothing here uses types that the driver would have to look up first.
    fetch_types: false,
    connect_timeout: 5,
    // A connection is closed for a reason only, never for its age.
    max_lifetime: null,
    // Each attempt to connect settles one waiting query, so attempts must not wait for each other.
    backoff: () => 0,
    onnotice: () => {},
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      // The driver's own would refuse the text 'infinity'.
      date: {
        to: 1184,
        from: [1082, 1114, 1184],
        parse: (text: string): Date | string => new Date(text),
        serialize: (value: Date | string) =>
          typeof value === 'string' ? value : value.toISOString(),
      },
    },
    connection: {
      application_name: `retention ${options.name}`,
      // Compiling a query costs more than any of these takes.
      jit: 'off',
      TimeZone: 'UTC',
      default_transaction_read_only: options.readOnly === true,
      // Each statement is planned once, whatever its parameters. They are few and known, so comparing
      // plans would cost more than running the right one; and of a shop that is just being imported the
      // statistics say that it has nothing, which would make any index that begins with the shop look
      // as good as the right one. Nor is room set aside for remembering rows, as much as the planner
      // fears to need without knowing the parameters.
      plan_cache_mode: 'force_generic_plan',
      enable_memoize: false,
      ...(options.byIndexOnly && {
        enable_seqscan: false,
        enable_bitmapscan: false,
        enable_sort: false,
      }),
      statement_timeout: options.statementTimeoutMilliseconds,
    },
  };
  const sql = renewed(({ lost, sockets }) => {
    const onclose = () => {
      lost();
      options.closed?.();
    };
    if (isEmbedded) {
      return postgres({
        ...settings,
        onclose,
        path: target,
        user: 'postgres',
        database: 'postgres',
      });
    }
    const socket = () => (options.sockets ?? sockets).open(target);
    return postgres(withoutTls(target), {
      ...settings,
      onclose,
      ssl,
      ...(isOneHost && { socket }),
    });
  }, options.readOnly === true);
  pools.set(sql, { name: options.name, connections: options.connections, statementsInFlight: 0 });
  return sql;
}

/** The driver itself goes from one of several hosts to the next. */
function hasOneHost(address: string): boolean {
  return !new URL(address).hostname.includes(',');
}

/** How much of a connection is in use. */
interface Pool {
  readonly name: string;
  /** At most. */
  readonly connections: number;
  /** Statements that were sent or queued, and are not yet answered. */
  statementsInFlight: number;
}

const pools = new WeakMap<Sql | Transaction, Pool>();

/** @returns undefined for what `connect` has not made */
export function poolOf(sql: Sql): Readonly<Pool> | undefined {
  return pools.get(sql);
}

/** Longer than any statement of a request may run on a server that answers at all. */
const patienceMilliseconds = 10_000;

/** The server has not answered in time: it is frozen, or cannot be reached. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code = 'NO_ANSWER';
}

/**
 * The rows of a query that a request waits for.
 * @param sql where it is asked
 * @throws NoAnswer after 10 seconds
 */
export function answerOf<Rows extends readonly object[]>(
  sql: Sql | Transaction,
  query: postgres.PendingQuery<Rows>,
): Promise<Rows> {
  // `finally`, or an async function around this, would cost as much again as the whole look-up.
  return new Promise((resolve, reject) => {
    const pool = pools.get(sql);
    if (pool) pool.statementsInFlight += 1;
    const timer = setTimeout(() => {
      reject(new NoAnswer(`The database did not answer within ${patienceMilliseconds} ms.`));
      // Out of the driver's queue. Once sent it stays: the server would be asked to cancel whatever
      // runs on the connection by then, which others share.
      if (!('state' in query) || query.state === null) query.cancel();
    }, patienceMilliseconds);
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        if (pool) pool.statementsInFlight -= 1;
        settle(value);
      };
    query.then(settled(resolve), settled(reject));
  });
}

/** Ids, or hashes in base64, as the text of a PostgreSQL array, which any index can search for. */
export function arrayText(values: readonly (number | string)[]): string {
  return `{${values.join(',')}}`;
}
