import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientConfig, DatabaseError, type Submittable } from 'pg';
import { systemClock } from '../../clock.ts';
import type { Place } from '../../database-url.ts';
import { Execution, type Prepared } from './execution.ts';
import type { Answer, Statement } from './query.ts';

export interface SessionOptions {
  readonly place: Place;
  readonly login: { readonly user: string; readonly password: string; readonly database: string };
  /** Undefined for a connection without TLS. */
  readonly tls: ConnectionOptions | undefined;
  /** Settings of the server, by their names. */
  readonly settings: Readonly<Record<string, string>>;
  /** How long connecting and authenticating may take. */
  readonly connectTimeoutMilliseconds: number;
}

/** The connection is gone, and with it what was under way: a change may or may not have been made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'CONNECTION_LOST';

  constructor(cause: Error) {
    super(`The connection to the database was lost: ${cause.message}`);
    forgetPlace(this);
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

/** There is no connection, for a reason that everyone who asks is told in an error of their own. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
  readonly code: string;

  /** @param cause whose code tells those who read from a standby that it is not the work that failed */
  constructor(cause: Error) {
    super(cause.message);
    this.code = (cause as { code?: string }).code ?? 'CONNECTION_FAILED';
    forgetPlace(this);
  }
}

/** Both come from driver events, whose stack traces are of no use in the log. */
function forgetPlace(error: Error): void {
  error.stack = `${error.name}: ${error.message}`;
}

/** What the driver has, but its types do not name. */
interface DriverParts {
  readonly connection: { readonly stream: Socket };
  getTransactionStatus(): string | null;
}

/** Settings go with the first message, as the server takes them: nothing has to be quoted. */
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

const keepAliveMilliseconds = 5_000;
/** A statement that was prepared is gone, or gives other columns since a table was changed. */
const outdated = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery']);
/** The server ends the connection, or is about to. */
const isFarewell = ({ code = '' }: { code?: string | undefined }) =>
  /^(?:57P0[1-5]|08...)$/.test(code);

export interface Listener {
  /** The session is over; what it had not answered is handed over first. */
  lost(session: Session, cause: Error): void;
  /** Its session was lost before this was answered. */
  stranded(statement: Statement, error: ConnectionLost): void;
}

/** One connection. Statements are pipelined: each is sent at once, and answered in turn. */
export class Session {
  readonly place: Place;
  /** The server's process behind it, and when that began. */
  pid = 0;
  begunAt = '';
  /** Its server replays another one's changes. */
  isStandby = false;
  inFlight = 0;
  /** When it last answered, or had nothing to answer; monotonic milliseconds. */
  heardAt = 0;
  isOpen = true;
  readonly #client: DriverClient & DriverParts;
  readonly #listener: Listener;
  readonly #prepared = new Map<string, Prepared>();
  #cause: Error | undefined;
  #isCorked = false;

  private constructor(place: Place, client: DriverClient, listener: Listener) {
    this.place = place;
    this.#client = client as DriverClient & DriverParts;
    this.#listener = listener;
    client.on('error', (error) => this.destroy(error));
    client.on('end', () => this.destroy(new Error('it was closed')));
  }

  /** @throws when the server cannot be reached, or does not let us in */
  static async open(options: SessionOptions, listener: Listener): Promise<Session> {
    const { place, login, tls, settings, connectTimeoutMilliseconds } = options;
    const client = new DriverClient(
      {
        ...place,
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
    const session = new Session(place, client, listener);
    const timer = setTimeout(
      () => session.destroy(noAnswer(connectTimeoutMilliseconds)),
      connectTimeoutMilliseconds,
    );
    try {
      await client.connect();
      const [about] = await session.ask<Pick<Session, 'pid' | 'begunAt' | 'isStandby'>>(
        `select pid, backend_start::text as "begunAt", pg_is_in_recovery() as "isStandby"
         from pg_stat_activity where pid = pg_backend_pid()`,
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
      clearTimeout(timer);
    }
  }

  /** What is between begin and commit here, or has failed there. */
  get isInTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I';
  }

  send(statement: Statement): void {
    if (this.inFlight === 0) this.heardAt = systemClock.monotonic();
    this.inFlight += 1;
    const prepared = statement.isScript ? undefined : this.#prepare(statement);
    this.#client.query(new Execution(statement, prepared, this) as unknown as Submittable);
  }

  /** Runs a script for its own sake. */
  ask<Row extends object>(text: string): Promise<Answer<Row[]>> {
    return new Promise((resolve, reject) => {
      this.send({
        text,
        parameters: [],
        types: [],
        isScript: true,
        isAbandoned: false,
        attemptsLeft: 0,
        resolve: (rows) => resolve(rows as Answer<Row[]>),
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
    const { command } = await this.ask('commit').finally(() => this.#client.off('notice', note));
    if (isWarned) throw new NotReplicated();
    if (command === 'ROLLBACK') {
      throw new Error('A statement of the transaction has failed, so nothing of it was kept.');
    }
  }

  /** Takes leave of the server, without waiting for what it says to that. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    void this.#client.end();
    this.#client.connection.stream.destroySoon();
  }

  /** Ends it at once, however the server is. */
  destroy(cause: Error): void {
    this.#cause ??= cause;
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.#client.connection.stream.destroy();
    if (wasOpen) this.#listener.lost(this, this.#cause);
  }

  /** All that is sent in one turn goes out together. */
  writes(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  done({ statement }: Execution, rows: Answer<object[]>): void {
    this.inFlight -= 1;
    this.heardAt = systemClock.monotonic();
    statement.resolve(rows);
  }

  failed(
    { statement, prepared }: Execution,
    error: Error & { code?: string; routine?: string },
  ): void {
    this.inFlight -= 1;
    this.heardAt = systemClock.monotonic();
    // Refused before it was ever answered, or overtaken by a change of a table.
    if (prepared && (!prepared.columns || outdated.has(error.routine ?? ''))) {
      this.#prepared.delete(keyOf(statement));
    }
    const isServers = error instanceof DatabaseError && !isFarewell(error);
    if (isServers && outdated.has(error.routine ?? '') && this.#isRepeatable(statement)) {
      statement.attemptsLeft -= 1;
      return this.send(statement);
    }
    if (isServers) return statement.reject(error);
    this.destroy(error);
    this.#listener.stranded(statement, new ConnectionLost(this.#cause ?? error));
  }

  /** Within a transaction one failure has failed all that follows. */
  #isRepeatable({ attemptsLeft }: Statement): boolean {
    return attemptsLeft > 0 && this.#client.getTransactionStatus() === 'I';
  }

  #prepare(statement: Statement): Prepared {
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

/** All sessions with the embedded database, of whatever process, share the names of statements. */
const process = randomBytes(6).toString('hex');
let names = 0;

function keyOf({ text, types }: Statement): string {
  return types.length === 0 ? text : `${text}\n${types.join()}`;
}

function noAnswer(milliseconds: number): Error {
  return Object.assign(new Error(`no answer within ${milliseconds} ms`), { code: 'NO_ANSWER' });
}
