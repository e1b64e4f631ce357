import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Opener } from './opener.ts';
import type { Runner, Statement } from './query.ts';
import { type ConnectionLost, type Listener, NoConnection, type Session } from './session.ts';
import { examine, isUnreachable } from './silence.ts';

export interface ConnectionsOptions {
  /** At most so many at once. */
  readonly most: number;
  /**
   * Statements share one connection, each sent without waiting for the one before; else each has a
   * connection to itself, and a transaction can.
   */
  readonly isShared: boolean;
  /** Statements in flight on a lost connection are sent again on another one. */
  readonly isRepeatable: boolean;
  /** Whether one that does not answer is asked about on another. */
  readonly isWatched: boolean;
  readonly open: Opener;
  /** A connection has ended that was not meant to. */
  readonly closed?: (() => void) | undefined;
}

interface Waiting {
  take(session: Session): void;
  refuse(error: Error): void;
}

/** Further statements are rejected, so that memory stays bounded. */
const maxWaiting = 10_000;
/** How often to retry in the background while no connection can be opened. */
const probeMilliseconds = 250;
const watchMilliseconds = 500;
/** Statements that take this long are normal on a healthy server; longer silence is investigated. */
const suspicionMilliseconds = { shared: 1_000, own: 3_000 };
/** A silent connection is closed after this long if the server cannot be reached on a new one either. */
const giveUpMilliseconds = { shared: 2_000, reading: 5_000, writing: 30_000 };
const connectTimeoutMilliseconds = 5_000;
const probeTimeoutMilliseconds = 2_000;
const pollMilliseconds = 5;

/** A few connections to one database, made when they are needed and anew when they are lost. */
export class Connections implements Runner, Listener {
  readonly #options: ConnectionsOptions;
  readonly #sessions = new Set<Session>();
  /** The one that is shared. */
  #lane: Session | undefined;
  /** Of those that are not. */
  readonly #idle: Session[] = [];
  #waiting: Waiting[] = [];
  #opening = 0;
  /** Why there is none, since the last attempt. */
  #failure: Error | undefined;
  #probe: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  readonly #examined = new Set<Session>();
  #isOver = false;
  #restsUntil = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Statements that are sent or wait. */
  get statementsInFlight(): number {
    let sum = this.#waiting.length;
    for (const { inFlight } of this.#sessions) sum += inFlight;
    return sum;
  }

  run(statement: Statement): void {
    if (this.#lane) return this.#send(statement, this.#lane);
    this.#wait({
      take: (session) => {
        if (this.#options.isShared) return this.#send(statement, session);
        if (statement.isAbandoned) return this.give(session);
        session.send(followed(statement, () => this.give(session)));
      },
      refuse: (error) => statement.reject(error),
    });
  }

  /** One for a transaction, or whatever else needs a connection to itself. */
  take(): Promise<Session> {
    if (this.#options.isShared) throw new Error('A shared connection has no transactions.');
    return new Promise((take, refuse) => this.#wait({ take, refuse }));
  }

  give(session: Session): void {
    if (!session.isOpen) return this.#serve();
    if (session.isInTransaction) {
      // Left by a transaction that could not be ended.
      session.destroy(new Error('its transaction was left open'));
      return;
    }
    this.#idle.push(session);
    this.#serve();
  }

  /** Closes all that are open without asking the server, and forgets what has failed. */
  reset(): void {
    this.#failure = undefined;
    this.#restsUntil = 0;
    for (const session of this.#sessions) session.destroy(new Error('it was given up'));
  }

  /**
   * Nothing new is taken.
   * @param graceSeconds how long what is under way may take to come to its end
   */
  async end(graceSeconds = Number.POSITIVE_INFINITY): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#probe);
    clearInterval(this.#watch);
    if (graceSeconds > 0) await this.#settle(graceSeconds);
    const error = closed();
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(error);
    this.#lane = undefined;
    for (const session of this.#sessions) {
      if (session.inFlight > 0) session.destroy(error);
      else session.close();
    }
  }

  lost(session: Session, cause: Error): void {
    if (!this.#sessions.delete(session)) return;
    const index = this.#idle.indexOf(session);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#lane === session) this.#lane = undefined;
    if (this.#isOver) return;
    this.#options.closed?.();
    if (isUnreachable(cause)) {
      // Idle connections are just as dead; each would make its next user wait as long.
      for (const idle of this.#idle.splice(0)) idle.destroy(cause);
      this.#fail(cause);
    }
    this.#serve();
  }

  stranded(statement: Statement, error: ConnectionLost): void {
    if (!this.#options.isRepeatable || statement.attemptsLeft === 0 || this.#isOver) {
      return statement.reject(error);
    }
    statement.attemptsLeft -= 1;
    // Not before the driver has done with the lost one.
    setImmediate(() => this.run(statement));
  }

  #send(statement: Statement, session: Session): void {
    if (statement.isAbandoned) return;
    if (session.inFlight >= maxWaiting) return statement.reject(tooMany());
    session.send(statement);
  }

  #wait(waiting: Waiting): void {
    if (this.#isOver) return waiting.refuse(closed());
    if (this.#failure) return waiting.refuse(new NoConnection(this.#failure));
    if (this.#waiting.length >= maxWaiting) return waiting.refuse(tooMany());
    this.#waiting.push(waiting);
    this.#serve();
  }

  /** Hands out what is free, and opens what is missing. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const session = this.#lane ?? this.#idle.pop();
      if (!session) break;
      this.#waiting.shift()?.take(session);
    }
    if (systemClock.monotonic() < this.#restsUntil) return;
    const missing = Math.min(
      this.#waiting.length - this.#opening,
      this.#options.most - this.#sessions.size - this.#opening,
    );
    for (let opened = 0; opened < missing; opened += 1) void this.#open();
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    try {
      const timeout = this.#failure ? probeTimeoutMilliseconds : connectTimeoutMilliseconds;
      this.#adopt(await this.#options.open(this, timeout));
    } catch (error) {
      this.#fail(error as Error);
    } finally {
      this.#opening -= 1;
      this.#serve();
    }
  }

  #adopt(session: Session): void {
    if (this.#isOver) return session.close();
    // It may have been lost in the moment before.
    if (!session.isOpen) return this.#fail(unavailable('The connection was lost at once.'));
    this.#failure = undefined;
    this.#sessions.add(session);
    if (this.#options.isShared) this.#lane = session;
    else this.#idle.push(session);
    if (this.#options.isWatched) {
      this.#watch ??= setInterval(() => this.#look(), watchMilliseconds).unref();
    }
  }

  /** Rejects those who wait, and everyone who comes later, until a connection can be opened. */
  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#restsUntil = systemClock.monotonic() + probeMilliseconds;
    if (this.#sessions.size === 0) {
      this.#failure = error;
      for (const waiting of this.#waiting.splice(0)) waiting.refuse(new NoConnection(error));
    }
    this.#probe ??= setTimeout(() => {
      this.#probe = undefined;
      this.#restsUntil = 0;
      if (this.#failure && this.#opening === 0) void this.#open();
      else this.#serve();
    }, probeMilliseconds);
  }

  #look(): void {
    const { isShared } = this.#options;
    const now = systemClock.monotonic();
    const limit = isShared ? suspicionMilliseconds.shared : suspicionMilliseconds.own;
    for (const session of this.#sessions) {
      const isSilent = session.inFlight > 0 && now - session.heardAt > limit;
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
      if (verdict.witness && verdict.cause) this.#adopt(verdict.witness);
      else verdict.witness?.close();
      if (verdict.cause) session.destroy(verdict.cause);
    } finally {
      this.#examined.delete(session);
    }
  }

  async #settle(graceSeconds: number): Promise<void> {
    const end = systemClock.monotonic() + graceSeconds * 1000;
    const isBusy = () =>
      this.statementsInFlight > 0 ||
      (!this.#options.isShared && this.#idle.length < this.#sessions.size);
    while (isBusy() && systemClock.monotonic() < end) await sleep(pollMilliseconds);
  }
}

/** The same statement, and something to be done once it has its answer. */
function followed(statement: Statement, then: () => void): Statement {
  const { text, parameters, types } = statement;
  return {
    text,
    parameters,
    types,
    isScript: false,
    isAbandoned: false,
    attemptsLeft: statement.attemptsLeft,
    resolve(rows) {
      then();
      statement.resolve(rows);
    },
    reject(error) {
      then();
      statement.reject(error);
    },
  };
}

/** The code tells readers of a standby that the standby failed, not their statement. */
function unavailable(message: string): Error {
  return Object.assign(new Error(message), { code: 'CONNECTION_FAILED' });
}

const closed = () => unavailable('The connections to the database are closed.');

function tooMany(): Error {
  return new Error(`${maxWaiting} statements wait for the database already.`);
}
