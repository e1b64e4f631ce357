import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Opener } from './opener.ts';
import type { Runner, Statement } from './query.ts';
import { type ConnectionLost, type Listener, type Session, NoConnection } from './session.ts';

export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly max: number;
  /**
   * Pipelines all statements on one connection. Otherwise a statement or transaction has a connection to
   * itself.
   */
  readonly isShared: boolean;
  /** Retry statements that a lost connection interrupted. */
  readonly isRepeatable: boolean;
  /** Whether to check a connection that does not answer, by asking on a new one. */
  readonly isWatched: boolean;
  readonly open: Opener;
  /** Called when a connection closes unexpectedly. */
  readonly closed?: (() => void) | undefined;
}

interface Waiting {
  accept(session: Session): void;
  reject(error: Error): void;
}

/** Limits memory; further statements are rejected. */
const maxWaiting = 10_000;
/** How often to retry in the background while no connection can be opened. */
const retryMilliseconds = 250;
const checkIntervalMilliseconds = 500;
/** Healthy servers answer most statements within this time; a connection silent for longer is examined. */
const examineAfterMilliseconds = { shared: 1_000, own: 3_000 };
/** A silent connection is closed after this time if the server is unreachable on a new one as well. */
const giveUpMilliseconds = { shared: 2_000, reading: 5_000, writing: 30_000 };
const connectTimeoutMilliseconds = 5_000;
const probeTimeoutMilliseconds = 2_000;
const pollMilliseconds = 5;

/** A few connections to one database, opened when needed and replaced when lost. */
export class Connections implements Runner, Listener {
  readonly #options: ConnectionsOptions;
  readonly #sessions = new Set<Session>();
  /** The shared connection. */
  #shared: Session | undefined;
  /** Idle connections that are not shared. */
  readonly #idle: Session[] = [];
  #waiting: Waiting[] = [];
  #opening = 0;
  /** Why the last attempt to connect failed; undefined while there is a connection. */
  #failure: Error | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  readonly #examined = new Set<Session>();
  #isClosed = false;
  #retryNotBefore = 0;
  #resets = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Statements sent or waiting. */
  get statementsInFlight(): number {
    let sum = this.#waiting.length;
    for (const { inFlight } of this.#sessions) sum += inFlight;
    return sum;
  }

  run(statement: Statement): void {
    if (this.#shared) return this.#send(statement, this.#shared);
    this.#wait({
      accept: (session) => {
        if (this.#options.isShared) return this.#send(statement, session);
        if (statement.isAbandoned) return this.release(session);
        session.send(withCallback(statement, () => this.release(session)));
      },
      reject: (error) => statement.reject(error),
    });
  }

  /** Reserves a connection, for a transaction or anything else that needs one to itself. */
  acquire(): Promise<Session> {
    if (this.#options.isShared) throw new Error('A shared connection has no transactions.');
    return new Promise((accept, reject) => this.#wait({ accept, reject }));
  }

  release(session: Session): void {
    if (!session.isOpen) return this.#serve();
    if (session.isInTransaction) {
      // A transaction could not be ended.
      session.destroy(new Error('its transaction was left open'));
      return;
    }
    this.#idle.push(session);
    this.#serve();
  }

  /** Closes all connections without notifying the server, and clears the last failure. */
  reset(): void {
    this.#resets += 1;
    this.#failure = undefined;
    this.#retryNotBefore = 0;
    for (const session of this.#sessions) session.destroy(new Error('it was reset'));
  }

  /**
   * Closes the pool. New statements are rejected.
   * @param graceSeconds how long to wait for running statements
   */
  async end(graceSeconds = Number.POSITIVE_INFINITY): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#checkTimer);
    if (graceSeconds > 0) await this.#drain(graceSeconds);
    const error = closed();
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    this.#shared = undefined;
    for (const session of this.#sessions) {
      if (session.inFlight > 0) session.destroy(error);
      else session.close();
    }
  }

  lost(session: Session, cause: Error): void {
    if (!this.#sessions.delete(session)) return;
    const index = this.#idle.indexOf(session);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#shared === session) this.#shared = undefined;
    if (this.#isClosed) return;
    this.#options.closed?.();
    if (isUnreachable(cause)) {
      // Idle connections are dead as well; each would make its next user wait as long.
      for (const idle of this.#idle.splice(0)) idle.destroy(cause);
      this.#fail(cause);
    }
    this.#serve();
  }

  interrupted(statement: Statement, error: ConnectionLost): void {
    if (!this.#options.isRepeatable || statement.attemptsLeft === 0 || this.#isClosed) {
      return statement.reject(error);
    }
    statement.attemptsLeft -= 1;
    // After the driver has finished with the lost connection.
    setImmediate(() => this.run(statement));
  }

  #send(statement: Statement, session: Session): void {
    if (statement.isAbandoned) return;
    if (session.inFlight >= maxWaiting) return statement.reject(tooManyWaiting());
    session.send(statement);
  }

  #wait(waiting: Waiting): void {
    if (this.#isClosed) return waiting.reject(closed());
    if (this.#failure) return waiting.reject(new NoConnection(this.#failure));
    if (this.#waiting.length >= maxWaiting) return waiting.reject(tooManyWaiting());
    this.#waiting.push(waiting);
    this.#serve();
  }

  /** Hands out free connections and opens missing ones. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const session = this.#shared ?? this.#idle.pop();
      if (!session) break;
      this.#waiting.shift()?.accept(session);
    }
    if (systemClock.monotonic() < this.#retryNotBefore) return;
    const missing = Math.min(
      this.#waiting.length - this.#opening,
      this.#options.max - this.#sessions.size - this.#opening,
    );
    for (let opened = 0; opened < missing; opened += 1) void this.#open();
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    const resets = this.#resets;
    try {
      const timeout = this.#failure ? probeTimeoutMilliseconds : connectTimeoutMilliseconds;
      const session = await this.#options.open(this, timeout);
      if (resets === this.#resets) this.#adopt(session);
      else session.close();
    } catch (error) {
      // What the server said before a reset, such as of a password, is out of date.
      if (resets === this.#resets) this.#fail(error as Error);
    } finally {
      this.#opening -= 1;
      this.#serve();
    }
  }

  #adopt(session: Session): void {
    // While the pool drains, what waited for the connection is still sent.
    if (this.#isClosed && this.#waiting.length === 0) return session.close();
    // It may have been lost just before.
    if (!session.isOpen) return this.#fail(unavailable('The connection was lost immediately.'));
    this.#failure = undefined;
    this.#sessions.add(session);
    if (this.#options.isShared) this.#shared = session;
    else this.#idle.push(session);
    if (this.#options.isWatched && !this.#isClosed) {
      this.#checkTimer ??= setInterval(() => this.#check(), checkIntervalMilliseconds).unref();
    }
  }

  /** Rejects everything that waits or comes later, until a connection can be opened. */
  #fail(error: Error): void {
    this.#retryNotBefore = systemClock.monotonic() + retryMilliseconds;
    if (this.#sessions.size === 0) {
      this.#failure = error;
      for (const waiting of this.#waiting.splice(0)) waiting.reject(new NoConnection(error));
    }
    if (this.#isClosed) return;
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#retryNotBefore = 0;
      if (this.#failure && this.#opening === 0) void this.#open();
      else this.#serve();
    }, retryMilliseconds);
  }

  #check(): void {
    const { isShared } = this.#options;
    const now = systemClock.monotonic();
    const limit = isShared ? examineAfterMilliseconds.shared : examineAfterMilliseconds.own;
    for (const session of this.#sessions) {
      const isSilent = session.inFlight > 0 && now - session.lastActiveAt > limit;
      if (isSilent && !this.#examined.has(session)) void this.#examine(session);
    }
  }

  async #examine(session: Session): Promise<void> {
    const { isShared, isRepeatable } = this.#options;
    const kind = isShared ? 'shared' : isRepeatable ? 'reading' : 'writing';
    this.#examined.add(session);
    try {
      const verdict = await examine(session, {
        open: () => this.#options.open(this, probeTimeoutMilliseconds),
        giveUpMilliseconds: giveUpMilliseconds[kind],
      });
      if (verdict.probe && verdict.cause) this.#adopt(verdict.probe);
      else verdict.probe?.close();
      if (verdict.cause) session.destroy(verdict.cause);
    } finally {
      this.#examined.delete(session);
    }
  }

  async #drain(graceSeconds: number): Promise<void> {
    const end = systemClock.monotonic() + graceSeconds * 1000;
    const isInUse = () =>
      this.statementsInFlight > 0 ||
      (!this.#options.isShared && this.#idle.length < this.#sessions.size);
    while (isInUse() && systemClock.monotonic() < end) await sleep(pollMilliseconds);
  }
}

/** The same statement, with a callback that runs once it has a result. */
function withCallback(statement: Statement, callback: () => void): Statement {
  const { text, parameters, types, setting } = statement;
  return {
    text,
    parameters,
    types,
    setting,
    isScript: false,
    isAbandoned: false,
    attemptsLeft: statement.attemptsLeft,
    resolve(rows) {
      callback();
      statement.resolve(rows);
    },
    reject(error) {
      callback();
      statement.reject(error);
    },
  };
}

/** The code tells readers of a standby that the standby failed, not their statement. */
function unavailable(message: string): Error {
  return Object.assign(new Error(message), { code: 'CONNECTION_FAILED' });
}

const closed = () => unavailable('The connections to the database are closed.');

function tooManyWaiting(): Error {
  return new Error(`${maxWaiting} statements are already waiting for the database.`);
}

export interface Verdict {
  /** Why the connection is dead; undefined if it has answered or ended by itself. */
  readonly cause?: Error;
  /** The connection used for checking; it can replace the dead one. */
  readonly probe?: Session | undefined;
}

interface ExamineOptions {
  /** @throws if the server cannot be reached */
  readonly open: () => Promise<Session>;
  /** How long the connection may be silent while its server is unreachable as well. */
  readonly giveUpMilliseconds: number;
}

/** The server was not reachable on any connection. */
class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly code = 'NO_ANSWER';
}

export const isUnreachable = (error: Error) => error instanceof Unreachable;

const answerMilliseconds = 2_000;
const pauseMilliseconds = 250;
const busyPauseMilliseconds = 1_000;

/**
 * Finds out whether a silent connection is dead or its server is just slow. The connection itself shows no
 * error: after a failover behind one address, or if a router has dropped it, everything sent is silently
 * lost. A new connection can ask the server what the backend process is doing.
 */
export async function examine(session: Session, options: ExamineOptions): Promise<Verdict> {
  const { lastActiveAt } = session;
  const isSilent = () =>
    session.isOpen && session.inFlight > 0 && session.lastActiveAt === lastActiveAt;
  let probe: Session | undefined;
  // Check twice, since its answer may be in transit.
  for (let idle = 0; isSilent();) {
    try {
      probe = probe?.isOpen ? probe : await options.open();
      if (probe.server !== session.server) {
        return { probe, cause: new Error(`${session.server.host} is no longer in use`) };
      }
      idle = (await isBusy(session, probe)) ? 0 : idle + 1;
      if (idle === 2) {
        await terminateBackend(session, probe);
        return { probe, cause: new Error('the server is not processing anything on it') };
      }
      await sleep(idle === 0 ? busyPauseMilliseconds : pauseMilliseconds);
    } catch (error) {
      const silence = systemClock.monotonic() - lastActiveAt;
      if (isSilent() && silence > options.giveUpMilliseconds) {
        const { message } = error as Error;
        return { cause: new Unreachable(`no answer within ${Math.round(silence)} ms; ${message}`) };
      }
      await sleep(pauseMilliseconds);
    }
  }
  return { probe };
}

/** @throws if the probe gets no answer either */
async function isBusy(session: Session, probe: Session): Promise<boolean> {
  const [row] = await queryBackend<{ state: string | null }>('state', session, probe);
  // A state that is hidden or not tracked counts as busy.
  return row !== undefined && !(row.state ?? '').startsWith('idle');
}

/** Otherwise the server would keep the backend for hours, with its transaction and locks. */
async function terminateBackend(session: Session, probe: Session): Promise<void> {
  await queryBackend('pg_terminate_backend(pid)', session, probe);
}

/** Queries pg_stat_activity for a session's backend, if it still exists. */
async function queryBackend<Row extends object>(
  what: string,
  { pid, startedAt }: Session,
  probe: Session,
): Promise<readonly Row[]> {
  const timer = setTimeout(
    () => probe.destroy(new Error(`no answer within ${answerMilliseconds} ms`)),
    answerMilliseconds,
  );
  try {
    return await probe.query<Row>(
      `select ${what} from pg_stat_activity where pid = ${pid} and backend_start = '${startedAt}'`,
    );
  } finally {
    clearTimeout(timer);
  }
}
