import { systemClock } from '../../clock.ts';
import { type Sql, connect } from '../database.ts';

/** After this long without an answer, a new connection is tried. */
const timeoutMilliseconds = 5_000;

export interface Listener<Answer> {
  /** @param askedAt monotonic milliseconds just before the query was sent */
  answered(answer: Answer, askedAt: number): void;
  /** The query failed, or its connection was lost. */
  lost(error: Error): void;
}

/** Polls a server with one query, on a separate connection. */
export class Watch<Answer extends object> {
  readonly #query: string;
  readonly #listener: Listener<Answer>;
  readonly #sql: Sql;
  #askedAt: number | undefined;
  #retriedAt = 0;
  #isClosed = false;

  /**
   * @param query SQL that returns one row
   * @param options.allowStandby whether the server may be one; of the hosts of a primary's address it may not
   */
  constructor(
    address: string,
    query: string,
    listener: Listener<Answer>,
    { allowStandby = false } = {},
  ) {
    this.#query = query;
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

  /** Milliseconds since the pending query was sent; 0 if none is pending. */
  waitingFor(now: number): number {
    return this.#askedAt === undefined ? 0 : now - this.#askedAt;
  }

  /** Sends the query, unless one is still pending. */
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
      const [answer] = await this.#sql.unsafe<Answer[]>(this.#query);
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
