import { type ServerAnswer, askServer } from '../cluster/cluster.ts';
import { systemClock } from '../../clock.ts';
import { nameOf } from '../../config/database-url.ts';
import type { Log } from '../../log/log.ts';
import { type PrimaryPositions, maxLagMilliseconds, isWorker, mismatchOf } from './freshness.ts';
import {
  type ReadConnections,
  connectForReading,
  listConnections,
} from '../connections/read-connections.ts';
import { type Sql, connect } from '../database.ts';

/** A standby is used again only when it lags less than this, so that it does not flap. */
const resumeMilliseconds = 1_000;
/** Minimum time that a standby is left out after a failure. */
const cooldownMilliseconds = 1_000;
/** A standby has failed if it does not answer its watch for this long. */
const timeoutMilliseconds = 1_000;

type Reason =
  | 'it failed'
  | 'it lags'
  | 'the primary does not answer, so it cannot be compared'
  | NonNullable<ReturnType<typeof mismatchOf>>
  | 'it has changes that the primary does not have';

/**
 * A hot standby, or a worker of the primary's Citus cluster: connections to read from it, and a watch that
 * decides whether it may be read from.
 */
export class Standby {
  /** `host:port` */
  readonly name: string;
  readonly #address: string;
  readonly #positions: PrimaryPositions;
  readonly #log: Log;
  readonly #isByShop: boolean;
  readonly #watch: Watch;
  #opened: ReadConnections | undefined;
  #state: ServerAnswer | undefined;
  /** When that was asked; monotonic milliseconds. */
  #answeredFrom = 0;
  /** An earlier position of the standby. The primary, queried later, must be there or beyond. */
  #claim: { readonly position: number; readonly at: number } | undefined;
  /** Whether such a claim was confirmed since the connection was last lost. */
  #isTrusted = false;
  /** It has everything that the primary had committed by then; monotonic milliseconds. */
  #freshAsOf: number | undefined;
  #isInUse = false;
  #reason: Reason | undefined;
  /** Start of the period in which its freshness could have been established. */
  #knownSince = systemClock.monotonic();
  #notBefore = 0;

  constructor(address: string, positions: PrimaryPositions, log: Log, isByShop: boolean) {
    this.name = nameOf(address);
    this.#address = address;
    this.#positions = positions;
    this.#log = log;
    this.#isByShop = isByShop;
    const listener: Listener = {
      answered: (answer, askedAt) => {
        this.#state = answer;
        this.#answeredFrom = askedAt;
        this.#claim ??= { position: answer.position, at: systemClock.monotonic() };
        this.compare();
      },
      lost: (error) => this.#fail(error),
    };
    this.#watch = new Watch(address, listener, { allowStandby: true });
  }

  /** Of a worker, the group by which placements name it. */
  get group(): number | undefined {
    return this.#state && isWorker(this.#state) ? this.#state.membership?.group : undefined;
  }

  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** Upper limit of its lag; undefined if unknown. */
  get lagMilliseconds(): number | undefined {
    return this.#freshAsOf === undefined ? undefined : systemClock.monotonic() - this.#freshAsOf;
  }

  /** @returns connections for a request; undefined if it must not read from this standby now */
  connections(): ReadConnections | undefined {
    if (!this.#isInUse) return undefined;
    // The watch polls four times a second; check again for each request.
    if ((this.lagMilliseconds ?? Infinity) > maxLagMilliseconds) this.#leaveOutForLag();
    return this.#isInUse ? this.#opened : undefined;
  }

  /** To be called regularly: polls the standby and checks whether it has answered in time. */
  poll(): void {
    const now = systemClock.monotonic();
    this.#watch.poll(now);
    if (this.#watch.waitingFor(now) > timeoutMilliseconds) {
      return this.#fail(new Error(`no answer within ${timeoutMilliseconds} ms`));
    }
    this.#review(now);
  }

  /** To be called after each answer of the primary. */
  compare(): void {
    const state = this.#state;
    const primary = this.#positions.latest;
    if (!state || !primary) return;
    const mismatch = mismatchOf(state, primary);
    if (mismatch) return this.#reject(mismatch);
    if (isWorker(state)) {
      this.#freshAsOf = this.#answeredFrom;
      return this.#review(systemClock.monotonic());
    }
    if (this.#claim && this.#claim.at < primary.at) {
      if (this.#claim.position > primary.position) {
        return this.#reject('it has changes that the primary does not have');
      }
      this.#claim = undefined;
      this.#isTrusted = true;
    }
    if (this.#isTrusted) {
      this.#freshAsOf = this.#positions.timeOf(state.position) ?? this.#freshAsOf;
    }
    this.#review(systemClock.monotonic());
  }

  /**
   * A request failed on these connections, so they are closed, which also fails the other requests that
   * wait on them.
   */
  failed(connections: ReadConnections, error: Error): void {
    if (connections === this.#opened) this.#fail(error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#watch.close(), this.#disconnect()]);
  }

  #review(now: number): void {
    const lag = this.lagMilliseconds;
    if (
      lag === undefined ? now - this.#knownSince > maxLagMilliseconds : lag > maxLagMilliseconds
    ) {
      // The lag of a failed or mismatched standby is unknown.
      if (this.#state) this.#leaveOutForLag();
    } else if (!this.#isInUse && lag !== undefined && lag <= resumeMilliseconds) {
      if (now >= this.#notBefore) this.#resume();
    }
  }

  #resume(): void {
    if (!this.#opened) {
      this.#opened = connectForReading(this.#address, {
        allowStandby: true,
        isByShop: this.#isByShop,
      });
    }
    this.#isInUse = true;
    this.#reason = undefined;
    this.#log.info({ standby: this.name }, 'standby in use');
  }

  #leaveOutForLag(): void {
    const primary = this.#positions.latest;
    const isComparable =
      primary !== undefined && systemClock.monotonic() - primary.at <= maxLagMilliseconds;
    this.#leaveOut(
      isComparable ? 'it lags' : 'the primary does not answer, so it cannot be compared',
    );
  }

  /** Its data is not the primary's. */
  #reject(reason: Reason): void {
    this.#clear();
    this.#leaveOut(reason);
  }

  #fail(error: Error): void {
    this.#clear();
    this.#notBefore = systemClock.monotonic() + cooldownMilliseconds;
    this.#leaveOut('it failed', error);
    void this.#disconnect();
  }

  /** A restarted standby may begin at an earlier position. */
  #clear(): void {
    this.#state = undefined;
    this.#claim = undefined;
    this.#isTrusted = false;
    this.#freshAsOf = undefined;
    this.#knownSince = systemClock.monotonic();
  }

  #leaveOut(reason: Reason, error?: Error): void {
    const isKnown = this.#reason === reason;
    this.#isInUse = false;
    this.#reason = reason;
    if (isKnown) return;
    const lagMs = this.lagMilliseconds;
    this.#log.warn(
      {
        standby: this.name,
        reason,
        ...(lagMs !== undefined && { lagMs: Math.round(lagMs) }),
        ...(error && { cause: error.message }),
      },
      'standby left out',
    );
  }

  async #disconnect(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    // Pending reads are rejected at once, and retried on the primary.
    await Promise.all(listConnections(opened).map((sql) => sql.end(0)));
  }
}

/** After this long without an answer, a new connection is tried. */
const reconnectMilliseconds = 5_000;

export interface Listener {
  /** @param askedAt monotonic milliseconds just before the question was sent */
  answered(answer: ServerAnswer, askedAt: number): void;
  /** The question failed, or its connection was lost. */
  lost(error: Error): void;
}

/** Polls a server, on a separate connection. */
export class Watch {
  readonly #listener: Listener;
  readonly #sql: Sql;
  #askedAt: number | undefined;
  #retriedAt = 0;
  #isClosed = false;

  /**
   * @param options.allowStandby whether the server may be one; of the hosts of a primary's address it may not
   */
  constructor(address: string, listener: Listener, { allowStandby = false } = {}) {
    this.#listener = listener;
    this.#sql = connect(address, {
      name: 'watch',
      connections: 1,
      readOnly: true,
      allowStandby,
      statementTimeoutMilliseconds: reconnectMilliseconds,
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
      if (now - Math.max(this.#askedAt, this.#retriedAt) <= reconnectMilliseconds) return;
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
      const answer = await askServer(this.#sql);
      if (!this.#isClosed) this.#listener.answered(answer, askedAt);
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
