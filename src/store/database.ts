import { Connections } from './connections/connections.ts';
import {
  type Answer,
  Query,
  type Runner,
  type Statement,
  type Value,
} from './connections/query.ts';
import { openerOf } from './connections/opener.ts';
import type { Session } from './connections/session.ts';

type Rows = readonly object[];

/** What may stand in a template: a value, or another query as a part of this one's text. */
type Part = Value | Query<Rows>;

/** Writes queries: as templates, whose values become parameters. */
interface Queries {
  <Found extends Rows = Record<string, unknown>[]>(
    strings: TemplateStringsArray,
    ...parts: readonly Part[]
  ): Query<Found>;
  /** A text as it stands, as a query or a part of one; never with anything from outside in it. */
  unsafe<Found extends Rows = Record<string, unknown>[]>(
    text: string,
    values?: readonly Value[],
  ): Query<Found>;
  /** Runs several statements in one text; answers the rows of all, one after the other. */
  script(text: string): Promise<object[]>;
}

/** Inside one transaction. */
export type Transaction = Queries;

/** On a connection of their own. */
interface Reserved extends Queries {
  release(): void;
}

/**
 * A few connections to PostgreSQL, real or embedded. Ids (bigint) come as numbers: they are at most
 * 2^53 - 1. Numeric stays text, since it must not pass through floating point.
 */
export interface Sql extends Queries {
  /** As the server's list of activity has it, after `retention`. */
  readonly label: string;
  /** Connections at most. */
  readonly size: number;
  /** That were sent or wait, and are not yet answered. */
  readonly statementsInFlight: number;
  /**
   * Does work in a transaction, which is rolled back where the work fails.
   * @param mode of the transaction, such as `read only`
   * @throws ConnectionLost when the connection is lost; whether the commit took effect is then unknown
   */
  begin<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  begin<Result>(mode: string, work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  reserve(): Promise<Reserved>;
  /** Closes all connections without notifying the server; new ones are opened on demand. */
  reset(): void;
  /** @param graceSeconds for what is under way; as long as that takes where nothing is said */
  end(graceSeconds?: number): Promise<void>;
}

export interface ConnectOptions {
  /** Connections at most. */
  readonly connections: number;
  /** Statements share one connection, each sent without waiting for the one before. */
  readonly isShared?: boolean;
  /** The server refuses every write, and whatever a lost connection leaves unanswered is asked again. */
  readonly readOnly?: boolean;
  /**
   * Every statement has an index that gives its rows, in their order. What the server believes of a
   * table that has grown since it last looked must not talk it into reading and sorting the whole.
   */
  readonly byIndexOnly?: boolean;
  /** How long one statement may run before the server cancels it; 0 for no limit. */
  readonly statementTimeoutMilliseconds: number;
  /** Whether a server that takes no writes will do. What it says of keys may be old. */
  readonly allowStandby?: boolean;
  /** Shown in the server's list of activity. */
  readonly name: string;
  /** Called whenever a connection has been closed that was not meant to. */
  readonly closed?: () => void;
}

/**
 * @param target an address (postgres://…), or the path of the embedded database's socket
 * @throws CommandError when the address names a file with certificates that cannot be used
 */
export function connect(target: string, options: ConnectOptions): Sql {
  const isEmbedded = target.startsWith('/');
  const connections = new Connections({
    most: options.connections,
    isShared: options.isShared === true,
    isRepeatable: options.readOnly === true,
    isWatched: !isEmbedded,
    open: openerOf(target, settingsOf(options), options.allowStandby === true),
    closed: options.closed,
  });
  return sqlOf(connections, options);
}

function settingsOf(options: ConnectOptions): Readonly<Record<string, string>> {
  return {
    application_name: `retention ${options.name}`,
    // Compiling a query costs more than any of these takes.
    jit: 'off',
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    default_transaction_read_only: options.readOnly === true ? 'on' : 'off',
    // Each statement is planned once, whatever its parameters. They are few and known, so comparing
    // plans would cost more than running the right one; and of a shop that is just being imported the
    // statistics say that it has nothing, which would make any index that begins with the shop look
    // as good as the right one. Nor is room set aside for remembering rows, as much as the planner
    // fears to need without knowing the parameters.
    plan_cache_mode: 'force_generic_plan',
    enable_memoize: 'off',
    ...(options.byIndexOnly && {
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_sort: 'off',
    }),
    statement_timeout: String(options.statementTimeoutMilliseconds),
  };
}

function queriesOf(runner: Runner, script: (text: string) => Promise<object[]>): Queries {
  return Object.assign(
    <Found extends Rows>(strings: TemplateStringsArray, ...parts: readonly Part[]) =>
      new Query<Found>(runner, strings, parts),
    {
      unsafe: <Found extends Rows>(text: string, values: readonly Value[] = []) =>
        Query.of<Found>(runner, text, values),
      script,
    },
  );
}

function sqlOf(connections: Connections, { name, connections: size }: ConnectOptions): Sql {
  const queries = queriesOf(connections, (text) =>
    onOne(connections, async (session) => {
      try {
        return await session.ask(text);
      } catch (error) {
        // What failed may have left a transaction open.
        if (session.isOpen) await session.ask('rollback').catch(() => {});
        throw error;
      }
    }),
  );
  const begin = (...parts: [...mode: string[], work: (tx: Transaction) => Promise<unknown>]) => {
    const work = parts.pop() as (tx: Transaction) => Promise<unknown>;
    return onOne(connections, (session) => inTransaction(session, parts.join(''), work));
  };
  return Object.defineProperties(
    Object.assign(queries, {
      label: name,
      size,
      begin: begin as Sql['begin'],
      async reserve() {
        const session = await connections.take();
        return Object.assign(queriesOfSession(session), {
          release: () => connections.give(session),
        });
      },
      reset: () => connections.reset(),
      end: (graceSeconds?: number) => connections.end(graceSeconds),
    }),
    { statementsInFlight: { get: () => connections.statementsInFlight } },
  ) as Sql;
}

async function onOne<Result>(
  connections: Connections,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await connections.take();
  try {
    return await work(session);
  } finally {
    connections.give(session);
  }
}

/**
 * Queries that belong to one connection: none is repeated on another one.
 * @param check throws where nothing may be sent any more
 */
function queriesOfSession(session: Session, check: () => void = () => {}): Queries {
  const run = (statement: Statement) => {
    statement.attemptsLeft = 0;
    check();
    session.send(statement);
  };
  return queriesOf({ run }, async (text) => {
    check();
    return session.ask(text);
  });
}

async function inTransaction<Result>(
  session: Session,
  mode: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  let isOver = false;
  const tx = queriesOfSession(session, () => {
    if (isOver) throw new Error('The transaction is over.');
  });
  await session.ask(`begin ${mode}`);
  try {
    const result = await work(tx);
    isOver = true;
    await session.commit();
    return result;
  } catch (error) {
    isOver = true;
    // Where it cannot be, the connection is not used again.
    if (session.isOpen && session.isInTransaction) await session.ask('rollback').catch(() => {});
    throw error;
  }
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
 * @throws NoAnswer after 10 seconds
 */
export function answerOf<Found extends Rows>(query: Query<Found>): Promise<Answer<Found>> {
  // `finally`, or an async function around this, would cost as much again as the whole look-up.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new NoAnswer(`The database did not answer within ${patienceMilliseconds} ms.`));
      query.abandon();
    }, patienceMilliseconds);
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

/** Ids, or hashes in base64, as the text of a PostgreSQL array, which any index can search for. */
export function arrayText(values: readonly (number | string)[]): string {
  return `{${values.join(',')}}`;
}
