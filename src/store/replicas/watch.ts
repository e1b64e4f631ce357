import { systemClock } from '../../clock.ts';
import { type Sql, connect } from '../database.ts';

/** After so long without an answer a new connection is tried. */
const patienceMilliseconds = 5_000;

export interface Listener<Answer> {
  /** @param askedAt monotonic milliseconds just before the question was sent */
  heard(answer: Answer, askedAt: number): void;
  /** The question failed, or the connection on which it was asked is gone. */
  lost(error: Error): void;
}

/** Asks a server the same question again and again, on a connection that serves nothing else. */
export class Watch<Answer extends object> {
  readonly #question: string;
  readonly #listener: Listener<Answer>;
  readonly #sql: Sql;
  #askedAt: number | undefined;
  #retriedAt = 0;
  #isClosed = false;

  /** @param question SQL that gives one row */
  constructor(address: string, question: string, listener: Listener<Answer>) {
    this.#question = question;
    this.#listener = listener;
    this.#sql = connect(address, {
      name: 'watch',
      connections: 1,
      readOnly: true,
      allowStandby: true,
      statementTimeoutMilliseconds: patienceMilliseconds,
      closed: () => this.#lose(new Error('its connection was closed')),
    });
  }

  /** For how many milliseconds the last question has been waiting; 0 where it is answered. */
  waitingFor(now: number): number {
    return this.#askedAt === undefined ? 0 : now - this.#askedAt;
  }

  /** Asks, unless the last question is still waiting: one at a time, so that none pile up. */
  ask(now: number): void {
    if (this.#askedAt !== undefined) {
      if (now - Math.max(this.#askedAt, this.#retriedAt) <= patienceMilliseconds) return;
      this.#retriedAt = now;
      return this.#sql.reset();
    }
    void this.#ask();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sql.end(0);
  }

  async #ask(): Promise<void> {
    const askedAt = systemClock.monotonic();
    this.#askedAt = askedAt;
    try {
      const [answer] = await this.#sql.unsafe<Answer[]>(this.#question);
      if (answer && !this.#isClosed) this.#listener.heard(answer, askedAt);
    } catch (error) {
      this.#lose(error as Error);
    } finally {
      this.#askedAt = undefined;
    }
  }

  #lose(error: Error): void {
    if (!this.#isClosed) this.#listener.lost(error);
  }
}
