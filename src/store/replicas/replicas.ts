import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { type PrimaryAnswer, PrimaryPositions, primaryQuestion } from './primary-positions.ts';
import type { ReadConnections } from '../connections/read-connections.ts';
import { Standby } from './standby.ts';
import { Watch } from './watch.ts';

const intervalMilliseconds = 250;

/** How a standby is, at the moment one looks. */
export interface ReplicaState {
  /** `host:port` */
  readonly name: string;
  /** At most so old is what is read from it; undefined where that is not known. */
  readonly lagMilliseconds: number | undefined;
  readonly isInUse: boolean;
}

/** The hot standbys of a primary, those that are fresh enough taking turns. */
export class Replicas {
  readonly #primary: ReadConnections;
  readonly #positions = new PrimaryPositions();
  readonly #primaryWatch: Watch<PrimaryAnswer>;
  readonly #standbys: readonly Standby[];
  readonly #timer: NodeJS.Timeout;
  #turn = 0;

  /**
   * @param address of the primary, from which `primary` reads
   * @param standbys their addresses
   */
  constructor(
    address: string,
    primary: ReadConnections,
    { standbys, log }: { readonly standbys: readonly string[]; readonly log: Log },
  ) {
    this.#primary = primary;
    this.#standbys = standbys.map((each) => new Standby(each, this.#positions, log));
    this.#primaryWatch = new Watch<PrimaryAnswer>(address, primaryQuestion, {
      heard: (answer, askedAt) => {
        this.#positions.add(answer, askedAt);
        for (const standby of this.#standbys) standby.compare();
      },
      // Without news of the primary every standby counts as lagging before long.
      lost: () => {},
    });
    const look = () => {
      this.#primaryWatch.ask(systemClock.monotonic());
      for (const standby of this.#standbys) standby.look();
    };
    look();
    // Answers that have arrived are read first: a process that was kept busy has not been let down.
    this.#timer = setInterval(() => setImmediate(look), intervalMilliseconds).unref();
  }

  get states(): readonly ReplicaState[] {
    return this.#standbys;
  }

  /**
   * Runs work that only reads, on a standby that is fresh at this moment, else on the primary. What
   * fails on a standby for a reason that may be the standby's is run once more, on the primary.
   */
  read<Result>(work: (from: ReadConnections) => Promise<Result>): Promise<Result> {
    for (let tried = 0; tried < this.#standbys.length; tried += 1) {
      this.#turn = (this.#turn + 1) % this.#standbys.length;
      const standby = this.#standbys[this.#turn];
      const connections = standby?.connections();
      if (standby && connections) {
        return work(connections).catch((error: unknown) => {
          const culprit = culpritOf(error);
          if (culprit === 'work') throw error;
          if (culprit === 'standby') standby.failed(connections, error as Error);
          return work(this.#primary);
        });
      }
    }
    return work(this.#primary);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#primaryWatch, ...this.#standbys].map((each) => each.close()));
  }
}

/** Cancelled, most likely for its length: it would be as long elsewhere. */
const queryCancelled = '57014';
/** What is replayed was in the way of a statement; the standby itself is well. */
const conflictClass = '40';

/** Whose fault it is that reading from a standby failed. Errors of driver and server have a code. */
function culpritOf(error: unknown): 'work' | 'conflict' | 'standby' {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return 'work';
  if (error.code === queryCancelled) return 'work';
  return error.code.startsWith(conflictClass) && error.code.length === 5 ? 'conflict' : 'standby';
}
