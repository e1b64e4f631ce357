import { systemClock } from '../../clock.ts';
import { type Sql, connect } from '../database.ts';

/** After this long without an answer, a new connection is tried. */
const timeoutMilliseconds = 5_000;

export interface Listener<Answer> {
  /** @param askedAt monotonic milliseconds just before the question was sent */
  answered(answer: Answer, askedAt: number): void;
  /** The question failed, or its connection was lost. */
  lost(error: Error): void;
}

/** Polls a server with the same question, on a separate connection. */
export class Watch<Answer extends object> {
  readonly #ask: (sql: Sql) => Promise<Answer | undefined>;
  readonly #listener: Listener<Answer>;
  readonly #sql: Sql;
  #askedAt: number | undefined;
  #retriedAt = 0;
  #isClosed = false;

  /**
   * @param ask asks the server
   * @param options.allowStandby whether the server may be one; of the hosts of a primary's address it may not
   */
  constructor(
    address: string,
    ask: (sql: Sql) => Promise<Answer | undefined>,
    listener: Listener<Answer>,
    { allowStandby = false } = {},
  ) {
    this.#ask = ask;
    this.#listener = listener;
    this.#sql = connect(address, {
      name: 'watch',
      connections: 1,
      readOnly: true,
      allowStandby,
      statementTimeoutMilliseconds: timeoutMilliseconds,
      closed: () => this.#lose(new Error('its connection was closed')),
    });
  }

  /** Milliseconds since the pending question was sent; 0 if none is pending. */
  waitingFor(now: number): number {
    return this.#askedAt === undefined ? 0 : now - this.#askedAt;
  }

  /** Sends the question, unless one is still pending. */
  poll(now: number): void {
    if (this.#askedAt !== undefined) {
      if (now - Math.max(this.#askedAt, this.#retriedAt) <= timeoutMilliseconds) return;
      this.#retriedAt = now;
      return this.#sql.reset();
    }
    void this.#send();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sql.end(0);
  }

  async #send(): Promise<void> {
    const askedAt = systemClock.monotonic();
    this.#askedAt = askedAt;
    try {
      const answer = await this.#ask(this.#sql);
      if (answer && !this.#isClosed) this.#listener.answered(answer, askedAt);
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
