import { systemClock } from '../../clock.ts';
import { nameOf } from '../../database-url.ts';
import type { Log } from '../../log.ts';
import type { PrimaryPositions } from './primary-positions.ts';
import {
  type ReadConnections,
  connectForReading,
  listConnections,
} from '../connections/read-connections.ts';
import {
  type StandbyAnswer,
  boundMilliseconds,
  standbyQuestion,
  strangenessOf,
} from './standby-answer.ts';
import { Watch } from './watch.ts';

/** One that was left out is taken in again only when it lags less than this, lest it come and go. */
const returnMilliseconds = 1_000;
/** For so long at least it is left out after a failure. */
const restMilliseconds = 1_000;
/** It counts as failed when its watch has waited so long for an answer. */
const silenceMilliseconds = 1_000;

type Reason =
  | 'it failed'
  | 'it lags'
  | 'the primary does not answer, so it cannot be compared'
  | NonNullable<ReturnType<typeof strangenessOf>>
  | 'it has changes that the primary does not have';

/** One hot standby: what reads from it, and a watch over whether it may be read from. */
export class Standby {
  /** `host:port` */
  readonly name: string;
  readonly #address: string;
  readonly #positions: PrimaryPositions;
  readonly #log: Log;
  readonly #watch: Watch<StandbyAnswer>;
  #opened: ReadConnections | undefined;
  #said: StandbyAnswer | undefined;
  /** Where it was at a time: the primary, asked later, must be there or further. */
  #claim: { readonly position: number; readonly heardAt: number } | undefined;
  /** Whether a claim has held since its connection was last lost. */
  #isTrusted = false;
  /** All that the primary had committed by then is here; monotonic milliseconds. */
  #freshAsOf: number | undefined;
  #isInUse = false;
  #reason: Reason | undefined;
  /** Since when it could have been found fresh. */
  #knownSince = systemClock.monotonic();
  #restsUntil = 0;

  constructor(address: string, positions: PrimaryPositions, log: Log) {
    this.name = nameOf(address);
    this.#address = address;
    this.#positions = positions;
    this.#log = log;
    this.#watch = new Watch<StandbyAnswer>(address, standbyQuestion, {
      heard: (answer) => {
        this.#said = answer;
        this.#claim ??= { position: answer.position ?? 0, heardAt: systemClock.monotonic() };
        this.compare();
      },
      lost: (error) => this.#fail(error),
    });
  }

  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** At most so long ago was something committed that is not here; undefined where that is not known. */
  get lagMilliseconds(): number | undefined {
    return this.#freshAsOf === undefined ? undefined : systemClock.monotonic() - this.#freshAsOf;
  }

  /** @returns what a request may read from, at this moment; undefined where it must not */
  connections(): ReadConnections | undefined {
    if (!this.#isInUse) return undefined;
    // The watch looks four times a second; a request looks for itself.
    if ((this.lagMilliseconds ?? Infinity) > boundMilliseconds) this.#leaveOutForLag();
    return this.#isInUse ? this.#opened : undefined;
  }

  /** To be called now and then: asks it again, and draws the conclusions of its silence. */
  look(): void {
    const now = systemClock.monotonic();
    this.#watch.ask(now);
    if (this.#watch.waitingFor(now) > silenceMilliseconds) {
      return this.#fail(new Error(`no answer within ${silenceMilliseconds} ms`));
    }
    this.#review(now);
  }

  /** To be called whenever the primary has said where it is. */
  compare(): void {
    const said = this.#said;
    const primary = this.#positions.latest;
    if (!said || !primary) return;
    const strangeness = strangenessOf(said, primary);
    if (strangeness) return this.#disown(strangeness);
    if (this.#claim && this.#claim.heardAt < primary.at) {
      if (this.#claim.position > primary.position) {
        return this.#disown('it has changes that the primary does not have');
      }
      this.#claim = undefined;
      this.#isTrusted = true;
    }
    if (this.#isTrusted) {
      this.#freshAsOf = this.#positions.timeOf(said.position ?? 0) ?? this.#freshAsOf;
    }
    this.#review(systemClock.monotonic());
  }

  /**
   * A request has failed on what it read from, so nothing else is read from it, and whoever waits for
   * an answer on the same connections is told so.
   */
  failed(connections: ReadConnections, error: Error): void {
    if (connections === this.#opened) this.#fail(error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#watch.close(), this.#disconnect()]);
  }

  #review(now: number): void {
    const lag = this.lagMilliseconds;
    if (lag === undefined ? now - this.#knownSince > boundMilliseconds : lag > boundMilliseconds) {
      // Of one that has failed, or is none, no lag is known.
      if (this.#said) this.#leaveOutForLag();
    } else if (!this.#isInUse && lag !== undefined && lag <= returnMilliseconds) {
      if (now >= this.#restsUntil) this.#takeIn();
    }
  }

  #takeIn(): void {
    if (!this.#opened) {
      this.#opened = connectForReading(this.#address, { allowStandby: true });
    }
    this.#isInUse = true;
    this.#reason = undefined;
    this.#log.info({ standby: this.name }, 'standby in use');
  }

  #leaveOutForLag(): void {
    const primary = this.#positions.latest;
    const isComparable =
      primary !== undefined && systemClock.monotonic() - primary.at <= boundMilliseconds;
    this.#leaveOut(
      isComparable ? 'it lags' : 'the primary does not answer, so it cannot be compared',
    );
  }

  /** Its data are not the primary's. */
  #disown(reason: Reason): void {
    this.#forget();
    this.#leaveOut(reason);
  }

  #fail(error: Error): void {
    this.#forget();
    this.#restsUntil = systemClock.monotonic() + restMilliseconds;
    this.#leaveOut('it failed', error);
    void this.#disconnect();
  }

  /** A standby that starts again may begin before where it was. */
  #forget(): void {
    this.#said = undefined;
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
    // Whoever waits for an answer is refused at once, and reads from the primary.
    await Promise.all(listConnections(opened).map((sql) => sql.end(0)));
  }
}
