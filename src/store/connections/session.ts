import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientConfig, DatabaseError, type Submittable } from 'pg';
import { systemClock } from '../../clock.ts';
import type { Server } from '../../config/database-url.ts';
import { CommandError } from '../../errors.ts';
import { Execution, type Prepared, setting } from './execution.ts';
import type { QueryResult, Statement } from './query.ts';

export interface SessionOptions {
  readonly server: Server;
  readonly login: { readonly user: string; readonly password: string; readonly database: string };
  /** Undefined for a connection without TLS. */
  readonly tls: ConnectionOptions | undefined;
  /** Server settings by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Time limit for connecting and authenticating. */
  readonly connectTimeoutMilliseconds: number;
}

/** The connection was lost while a statement was in progress; a change may or may not have been made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'CONNECTION_LOST';

  constructor(cause: Error) {
    super(`The connection to the database was lost: ${cause.message}`);
    dropStack(this);
  }
}

/** A commit that was to wait for a synchronous standby, and does no longer: somebody cancelled the wait. */
export class NotReplicated extends Error {
  override readonly name = 'NotReplicated';
  readonly code = 'NOT_REPLICATED';

  constructor() {
    super(
      'The server stopped waiting for its synchronous standby. The change is made, but a failover can undo it.',
    );
  }
}

/** There is no connection. Each caller gets a separate error, with the same reason. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
  readonly code: string;

  /** @param cause its code tells readers of a standby that the standby failed, not their statement */
  constructor(cause: Error) {
    super(cause.message);
    this.code = (cause as { code?: string }).code ?? 'CONNECTION_FAILED';
    dropStack(this);
  }
}

/** Both errors come from driver events, so their stack traces are useless. */
function dropStack(error: Error): void {
  error.stack = `${error.name}: ${error.message}`;
}

/** Driver members that its types omit. */
interface DriverParts {
  readonly connection: { readonly stream: Socket };
  getTransactionStatus(): string | null;
}

/** Sends settings in the startup message, where nothing needs quoting. */
class DriverClient extends Client {
  readonly #settings: Readonly<Record<string, string>>;

  constructor(config: ClientConfig, settings: Readonly<Record<string, string>>) {
    super(config);
    this.#settings = settings;
  }

  getStartupConf(): Record<string, string> {
    const { user = '', database = '' } = this;
    return { ...this.#settings, user, database, client_encoding: 'UTF8' };
  }
}

/** On Citus, only a plan for given parameters knows which node has the shop. */
const planForParameters = `select set_config('plan_cache_mode', 'auto', false) from pg_extension where extname = 'citus'`;
const keepAliveMilliseconds = 5_000;
const turnsToConnect = 10;
/** The prepared statement no longer exists, or its columns have changed since a table was altered. */
const outdated = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery']);
/**
 * The server has ended the connection, or is about to. A mere error with such a code is that of a coordinator
 * about one of its workers.
 */
const endsConnection = ({ code = '', severity }: DatabaseError) =>
  severity !== 'ERROR' && /^(?:57P0[1-5]|08...)$/.test(code);

/** Errors that the schema's own functions raise (RD001) say what to do, so people are shown them. */
const explained = (error: DatabaseError) =>
  error.code === 'RD001' ? new CommandError(error.message, { cause: error }) : error;

export interface Listener {
  /** The session has ended; statements without a result were reported before. */
  lost(session: Session, cause: Error): void;
  /** The session was lost before this statement had a result. */
  interrupted(statement: Statement, error: ConnectionLost): void;
}

/** One connection. Statements are pipelined: sent immediately, answered in order. */
export class Session {
  readonly server: Server;
  /** The server's backend process and its start time. */
  pid = 0;
  startedAt = '';
  /** The server is a standby. */
  isStandby = false;
  inFlight = 0;
  /** When it last answered or was idle; monotonic milliseconds. */
  lastActiveAt = 0;
  isOpen = true;
  readonly #client: DriverClient & DriverParts;
  readonly #listener: Listener;
  readonly #prepared = new Map<string, Prepared>();
  #cause: Error | undefined;
  /** Of the statement that is running. */
  readonly #warnings = new Set<string>();
  #isCorked = false;

  private constructor(server: Server, client: DriverClient, listener: Listener) {
    this.server = server;
    this.#client = client as DriverClient & DriverParts;
    this.#listener = listener;
    client.on('error', (error) => this.destroy(error));
    client.on('end', () => this.destroy(new Error('it was closed')));
    client.on('notice', ({ severity, message }) => {
      if (severity === 'WARNING') this.#warnings.add(String(message));
    });
  }

  /** @throws if the server cannot be reached, or rejects the login */
  static async open(options: SessionOptions, listener: Listener): Promise<Session> {
    const { server, login, tls, settings, connectTimeoutMilliseconds } = options;
    const client = new DriverClient(
      {
        ...server,
        user: login.user,
        database: login.database,
        // A function, so that the driver does not look for a password elsewhere.
        password: () => login.password,
        ssl: tls ?? false,
        pipeline: true,
        keepAlive: true,
        keepAliveInitialDelayMillis: keepAliveMilliseconds,
      },
      settings,
    );
    const session = new Session(server, client, listener);
    // In turns of the event loop: while this process loads code, or has no core, it cannot read the answer.
    let turnsLeft = turnsToConnect;
    const timer = setInterval(() => {
      turnsLeft -= 1;
      if (turnsLeft === 0) session.destroy(timeoutError(connectTimeoutMilliseconds));
    }, connectTimeoutMilliseconds / turnsToConnect);
    try {
      await client.connect();
      const [about] = await session.query<Pick<Session, 'pid' | 'startedAt' | 'isStandby'>>(
        `select pid, backend_start::text as "startedAt", pg_is_in_recovery() as "isStandby"
         from pg_stat_activity where pid = pg_backend_pid();
         ${planForParameters}`,
      );
      Object.assign(session, about);
      return session;
    } catch (error) {
      session.destroy(error as Error);
      // The code tells readers of a standby that the standby failed, not their statement.
      throw Object.assign(session.#cause ?? (error as Error), {
        code: (session.#cause as { code?: string }).code ?? 'CONNECTION_FAILED',
      });
    } finally {
      clearInterval(timer);
    }
  }

  /** Whether a transaction is open, or has failed and was not rolled back. */
  get isInTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I';
  }

  send(statement: Statement): void {
    if (this.inFlight === 0) this.lastActiveAt = systemClock.monotonic();
    this.inFlight += 1;
    const prepared = statement.isScript ? undefined : this.#prepare(statement);
    const preparedSetting = statement.setting && this.#prepare(setting);
    const execution = new Execution(statement, prepared, preparedSetting, this);
    this.#client.query(execution as unknown as Submittable);
  }

  /** Runs a script directly on this session. */
  query<Row extends object>(text: string): Promise<QueryResult<Row[]>> {
    return new Promise((resolve, reject) => {
      this.send({
        text,
        parameters: [],
        types: [],
        isScript: true,
        isAbandoned: false,
        attemptsLeft: 0,
        resolve: (rows) => resolve(rows as QueryResult<Row[]>),
        reject,
      });
    });
  }

  /** @throws when the transaction was rolled back, when its outcome is unknown, or NotReplicated */
  async commit(): Promise<void> {
    let isWarned = false;
    const note = ({ code }: { readonly code?: string | undefined }) => {
      // Nothing else warns (class 01) at a commit.
      isWarned ||= code?.startsWith('01') === true;
    };
    this.#client.on('notice', note);
    const { command } = await this.query('commit').finally(() => this.#client.off('notice', note));
    if (isWarned) throw new NotReplicated();
    if (command === 'ROLLBACK') {
      throw new Error('A statement in the transaction failed, so it was rolled back.');
    }
  }

  /** Closes the connection, without waiting for the server to confirm. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    void this.#client.end();
    this.#client.connection.stream.destroySoon();
  }

  /** Closes the connection at once, without notifying the server. */
  destroy(cause: Error): void {
    this.#cause ??= cause;
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.#client.connection.stream.destroy();
    if (wasOpen) this.#listener.lost(this, this.#cause);
  }

  /** Sends everything written in one turn of the event loop together. */
  willWrite(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  done({ statement }: Execution, rows: QueryResult<object[]>): void {
    this.inFlight -= 1;
    this.lastActiveAt = systemClock.monotonic();
    this.#warnings.clear();
    statement.resolve(rows);
  }

  failed(
    { statement, prepared }: Execution,
    error: Error & { code?: string; routine?: string },
  ): void {
    this.inFlight -= 1;
    this.lastActiveAt = systemClock.monotonic();
    // A coordinator says there why one of its nodes has failed.
    if (this.#warnings.size > 0) error.message += `: ${[...this.#warnings].join('; ')}`;
    this.#warnings.clear();
    // It failed before its first result, or a table has been altered.
    if (prepared && (!prepared.columns || outdated.has(error.routine ?? ''))) {
      this.#prepared.delete(keyOf(statement));
      if (outdated.has(error.routine ?? '')) this.#prepared.delete(keyOf(setting));
    }
    const isServerError = error instanceof DatabaseError && !endsConnection(error);
    if (isServerError && outdated.has(error.routine ?? '') && this.#isRepeatable(statement)) {
      statement.attemptsLeft -= 1;
      return this.send(statement);
    }
    if (isServerError) return statement.reject(explained(error));
    this.destroy(error);
    this.#listener.interrupted(statement, new ConnectionLost(this.#cause ?? error));
  }

  /** Within a transaction, one failure fails all later statements. */
  #isRepeatable({ attemptsLeft }: Statement): boolean {
    return attemptsLeft > 0 && this.#client.getTransactionStatus() === 'I';
  }

  #prepare(statement: Pick<Statement, 'text' | 'types'>): Prepared {
    const key = keyOf(statement);
    let prepared = this.#prepared.get(key);
    if (!prepared) {
      const name = `s${process}_${(names += 1)}`;
      prepared = { name, isParsed: false, columns: undefined };
      this.#prepared.set(key, prepared);
    }
    return prepared;
  }
}

/** All sessions with the embedded database, from any process, share the names of prepared statements. */
const process = randomBytes(6).toString('hex');
let names = 0;

function keyOf({ text, types }: Pick<Statement, 'text' | 'types'>): string {
  return types.length === 0 ? text : `${text}\n${types.join()}`;
}

function timeoutError(milliseconds: number): Error {
  return Object.assign(new Error(`no answer within ${milliseconds} ms`), { code: 'NO_ANSWER' });
}
