import { Connections } from './connections/connections.ts';
import {
  type QueryResult,
  Query,
  type Runner,
  type Setting,
  type Statement,
  type Value,
} from './connections/query.ts';
import { openerOf } from './connections/opener.ts';
import type { Session } from './connections/session.ts';

/** How every connection plans, and every session that a cluster opens on its nodes for one. */
export const plannerSettings = {
  // JIT compilation would take longer than any of these queries.
  jit: 'off',
  // Without knowing the parameters, the planner reserves far too much memory for it.
  enable_memoize: 'off',
  // Every look-up has an index with the right order. A plan that was made while a table was small must still
  // be right when it has grown (docs/decisions/0005-plans-and-statements.md).
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
} as const;

/** How the name of a connection ends whose statements name their shop. In older versions, none did. */
export const byShop = ' by shop';

/** What the connections that serve requests from the embedded database run as. */
export const embeddedRole = 'retention_reader';

type Rows = readonly object[];

/** A template parameter: a value, or another query that becomes part of this one's text. */
type Part = Value | Query<Rows>;

/** Builds queries from templates, whose values become parameters. */
interface Queries {
  <Found extends Rows = Record<string, unknown>[]>(
    strings: TemplateStringsArray,
    ...parts: readonly Part[]
  ): Query<Found>;
  /**
   * A name, such as that of a table or a column; `s.plan_id` is a column of `s`. Quoted if its letters need it.
   * @throws if it is no name
   */
  id(name: string): Query<Record<string, unknown>[]>;
  /** Uses a text as it is, as a query or a part of one. It must not contain external input. */
  unsafe<Found extends Rows = Record<string, unknown>[]>(
    text: string,
    values?: readonly Value[],
  ): Query<Found>;
  /** Runs several statements in one text; returns the rows of all of them, in order. */
  script(text: string): Promise<object[]>;
  /** Calls the pool's `committed` with a fact; in a transaction, once it has committed. */
  note(fact: object): void;
}

/** Inside one transaction. */
export type Transaction = Queries;

/** On a reserved connection. */
interface Reserved extends Queries {
  release(): void;
}

/**
 * A small pool of connections to PostgreSQL, real or embedded. Ids (bigint) are returned as numbers, since
 * they are at most 2^53 - 1. Numeric stays text, to avoid floating point.
 */
export interface Sql extends Queries {
  /** Identifies the pool in pg_stat_activity, after `retention`. */
  readonly label: string;
  /** Maximum number of connections. */
  readonly size: number;
  /** Statements sent or waiting that have no result yet. */
  readonly statementsInFlight: number;
  /**
   * Runs work in a transaction and rolls it back if the work fails.
   * @param mode of the transaction, such as `read only`
   * @throws ConnectionLost if the connection is lost; the transaction may or may not have been committed
   */
  begin<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  begin<Result>(mode: string, work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  reserve(): Promise<Reserved>;
  /** Whether its login may be one that sees the rows of one shop at a time (migrations/serving.sql). */
  readonly isByShop: boolean;
  /** The same pool, whose statements see this shop's rows also if its login sees those of one shop at a time. */
  ofShop(shopId: number): Sql;
  /** Closes all connections without notifying the server; new ones are opened on demand. */
  reset(): void;
  /** @param graceSeconds how long to wait for running statements; unlimited by default */
  end(graceSeconds?: number): Promise<void>;
}

export type Committed = (fact: object) => void;

export interface ConnectOptions {
  /** Maximum number of connections. */
  readonly connections: number;
  /** Pipelines all statements on one connection, without waiting for earlier results. */
  readonly isShared?: boolean;
  /** The server rejects writes. Statements interrupted by a lost connection are retried. */
  readonly readOnly?: boolean;
  /** The server cancels statements that run longer; 0 for no limit. */
  readonly statementTimeoutMilliseconds: number;
  /** Whether a server that takes no writes will do. What it says of keys may be old. */
  readonly allowStandby?: boolean;
  /** Shown in the server's list of activity. */
  readonly name: string;
  /** See `Sql.isByShop`. */
  readonly isByShop?: boolean;
  /** Called when a connection closes unexpectedly. */
  readonly closed?: () => void;
  /** Called with what a transaction has noted, once it has committed. */
  readonly committed?: Committed | undefined;
}

/**
 * @param target an address (postgres://…), or the path of the embedded database's socket
 * @throws CommandError if the address names a certificate file that cannot be used
 */
export function connect(target: string, options: ConnectOptions): Sql {
  const isEmbedded = target.startsWith('/');
  const connections = new Connections({
    max: options.connections,
    isShared: options.isShared === true,
    isRepeatable: options.readOnly === true,
    isWatched: !isEmbedded,
    open: openerOf(
      target,
      { ...settingsOf(options), ...(isEmbedded && options.isByShop && { role: embeddedRole }) },
      options.allowStandby === true,
    ),
    closed: options.closed,
  });
  return sqlOf(connections, options);
}

function settingsOf(options: ConnectOptions): Readonly<Record<string, string>> {
  return {
    application_name: `retention ${options.name}${options.isByShop ? byShop : ''}`,
    ...plannerSettings,
    // Views of one shop, for a login that may use them; for others, the tables of the same names.
    ...(options.isByShop && { search_path: 'served, public' }),
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    default_transaction_read_only: options.readOnly === true ? 'on' : 'off',
    // Plan each statement once, for any parameters. There are few statements, all known, so comparing plans
    // would cost more than running the right one. And while a shop is being imported its statistics are
    // empty, which makes every index that starts with the shop look equally good.
    plan_cache_mode: 'force_generic_plan',
    statement_timeout: String(options.statementTimeoutMilliseconds),
  };
}

function queriesOf(
  runner: Runner,
  script: (text: string) => Promise<object[]>,
  note: Committed,
): Queries {
  return Object.assign(
    <Found extends Rows>(strings: TemplateStringsArray, ...parts: readonly Part[]) =>
      new Query<Found>(runner, strings, parts),
    {
      id: (name: string) => Query.of<Record<string, unknown>[]>(runner, quoted(name), []),
      unsafe: <Found extends Rows>(text: string, values: readonly Value[] = []) =>
        Query.of<Found>(runner, text, values),
      script,
      note,
    },
  );
}

function quoted(name: string): string {
  if (/^[a-z_]+(?:\.[a-z_]+)?$/.test(name)) return name;
  if (!/^\w+(?:\.\w+)?$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name in SQL.`);
  return `"${name.replace('.', '"."')}"`;
}

/** How many shops' queries are kept, which take longer to make than a look-up. */
const maxShops = 1_000;

function sqlOf(connections: Connections, options: ConnectOptions, setting?: Setting): Sql {
  const { name, connections: size, committed = () => {} } = options;
  const script = (text: string) =>
    withSession(connections, async (session) => {
      try {
        return await session.query(text);
      } catch (error) {
        // The failed script may have left a transaction open.
        if (session.isOpen) await session.query('rollback').catch(() => {});
        throw error;
      }
    });
  const runner: Runner = {
    run(statement) {
      statement.setting = setting;
      connections.run(statement);
    },
  };
  const queries = queriesOf(setting === undefined ? connections : runner, script, committed);
  const begin = (...parts: [...mode: string[], work: (tx: Transaction) => Promise<unknown>]) => {
    const work = parts.pop() as (tx: Transaction) => Promise<unknown>;
    return withSession(connections, (session) =>
      inTransaction({ session, setting }, parts.join(''), work, committed),
    );
  };
  const shops = new Map<number, Sql>();
  const sql = Object.defineProperties(
    Object.assign(queries, {
      label: name,
      size,
      isByShop: options.isByShop === true,
      begin: begin as Sql['begin'],
      async reserve() {
        const session = await connections.acquire();
        return Object.assign(queriesOfSession({ session, setting }, committed), {
          release: () => connections.release(session),
        });
      },
      ofShop(id: number): Sql {
        if (!sql.isByShop) return sql;
        if (shops.size === maxShops) shops.clear();
        const known = shops.get(id);
        if (known) return known;
        const ofShop = sqlOf(connections, options, ['retention.shop_id', String(id)]);
        shops.set(id, ofShop);
        return ofShop;
      },
      reset: () => connections.reset(),
      end: (graceSeconds?: number) => connections.end(graceSeconds),
    }),
    { statementsInFlight: { get: () => connections.statementsInFlight } },
  ) as Sql;
  return sql;
}

async function withSession<Result>(
  connections: Connections,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await connections.acquire();
  try {
    return await work(session);
  } finally {
    connections.release(session);
  }
}

/** A reserved connection, and the setting of its statements. */
interface Bound {
  readonly session: Session;
  readonly setting: Setting | undefined;
}

/**
 * Queries bound to one connection, never retried on another.
 * @param check throws if no more statements may be sent
 */
function queriesOfSession(
  { session, setting }: Bound,
  note: Committed,
  check: () => void = () => {},
): Queries {
  const run = (statement: Statement) => {
    statement.attemptsLeft = 0;
    statement.setting = setting;
    check();
    session.send(statement);
  };
  const script = async (text: string) => {
    check();
    return session.query(text);
  };
  return queriesOf({ run }, script, note);
}

async function inTransaction<Result>(
  { session, setting }: Bound,
  mode: string,
  work: (tx: Transaction) => Promise<Result>,
  committed: Committed,
): Promise<Result> {
  let isOver = false;
  const facts: object[] = [];
  const note = (fact: object) => void facts.push(fact);
  const tx = queriesOfSession({ session, setting }, note, () => {
    if (isOver) throw new Error('The transaction is over.');
  });
  await session.query(`begin ${mode}`);
  try {
    const result = await work(tx);
    isOver = true;
    await session.commit();
    for (const fact of facts) committed(fact);
    return result;
  } catch (error) {
    isOver = true;
    // If the rollback fails, the pool discards the connection.
    if (session.isOpen && session.isInTransaction) await session.query('rollback').catch(() => {});
    throw error;
  }
}

/** Longer than any statement of a request may run on a responsive server. */
const timeoutMilliseconds = 10_000;

/** The server did not respond in time: it hangs or cannot be reached. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code = 'NO_ANSWER';
}

/**
 * Runs a query that a request waits for, with a time limit.
 * @throws NoAnswer after 10 seconds
 */
export function withTimeout<Found extends Rows>(query: Query<Found>): Promise<QueryResult<Found>> {
  // An async function, or `finally`, would cost as much as the whole look-up.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new NoAnswer(`The database did not answer within ${timeoutMilliseconds} ms.`));
      query.abandon();
    }, timeoutMilliseconds);
    query.run(
      (rows) => {
        clearTimeout(timer);
        resolve(rows);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Ids, keys of records, or hashes in base64, as the text of a PostgreSQL array; lets queries use any index. */
export function arrayText(values: readonly (number | string)[]): string {
  return `{${values.join(',')}}`;
}

/**
 * Whether the server refused the statement. Class 57 is none: if it was cancelled, another would probably take as long,
 * and a server that shuts down would refuse another, too.
 */
export const isOfStatement = (error: unknown) =>
  /^(?!57)[\dA-Z]{5}$/.test(String((error as { code?: unknown }).code));
