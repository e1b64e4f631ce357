import { systemClock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { isOtherLogin } from '../../config/database-url.ts';
import { ShopNodes } from '../cluster/cluster.ts';
import { PrimaryPositions } from './freshness.ts';
import type { ReadConnections } from '../connections/read-connections.ts';
import { Standby, Watch } from './standby.ts';

const intervalMilliseconds = 250;

/** The current state of a standby. */
export interface ReplicaState {
  /** `host:port` */
  readonly name: string;
  /** Upper limit of its lag; undefined if unknown. */
  readonly lagMilliseconds: number | undefined;
  readonly isInUse: boolean;
}

/**
 * The hot standbys of a primary, or workers of its cluster. Those that are fresh enough are read from in turn,
 * but a shop's rows from the worker that has them, if it is one of them.
 */
export class Replicas {
  readonly #primary: ReadConnections;
  readonly #positions = new PrimaryPositions();
  readonly #primaryWatch: Watch;
  readonly #standbys: readonly Standby[];
  readonly #timer: NodeJS.Timeout;
  readonly #shopNodes: ShopNodes;
  #turn = 0;

  /**
   * @param address of the primary that `primary` reads from
   * @param standbys their addresses
   * @param isByShop whether a login other than that of `address` may see the rows of one shop at a time
   */
  constructor(
    address: string,
    primary: ReadConnections,
    {
      standbys,
      log,
      isByShop,
    }: {
      readonly standbys: readonly string[];
      readonly log: Log;
      readonly isByShop: boolean;
    },
  ) {
    this.#primary = primary;
    this.#shopNodes = new ShopNodes(primary.plans);
    this.#standbys = standbys.map(
      (each) => new Standby(each, this.#positions, log, isByShop && isOtherLogin(each, address)),
    );
    this.#primaryWatch = new Watch(address, {
      answered: (answer, askedAt) => {
        this.#positions.add(answer, askedAt);
        for (const standby of this.#standbys) standby.compare();
      },
      // Without answers from the primary, every standby soon counts as lagging.
      lost: () => {},
    });
    const poll = () => {
      this.#primaryWatch.poll(systemClock.monotonic());
      for (const standby of this.#standbys) standby.poll();
    };
    poll();
    // Process answers that have arrived first, so that a delay of this process does not count as theirs.
    this.#timer = setInterval(() => setImmediate(poll), intervalMilliseconds).unref();
  }

  get states(): readonly ReplicaState[] {
    return this.#standbys;
  }

  /**
   * Runs read-only work on a standby that is currently fresh, otherwise on the primary. If the standby may
   * have caused a failure, runs the work again on the primary.
   */
  read<Result>(shopId: number, work: (from: ReadConnections) => Promise<Result>): Promise<Result> {
    const standby = this.#choose(shopId);
    const connections = standby?.connections();
    if (!standby || !connections) return work(this.#primary);
    return work(connections).catch((error: unknown) => {
      const cause = causeOf(error);
      if (cause === 'work') throw error;
      if (cause === 'standby') standby.failed(connections, error as Error);
      return work(this.#primary);
    });
  }

  #choose(shopId: number): Standby | undefined {
    if (this.#standbys.some(({ group }) => group !== undefined)) {
      const group = this.#shopNodes.groupOf(shopId);
      const nearest = this.#standbys.find((each) => group !== undefined && each.group === group);
      if (nearest?.connections()) return nearest;
    }
    for (let tried = 0; tried < this.#standbys.length; tried += 1) {
      this.#turn = (this.#turn + 1) % this.#standbys.length;
      const standby = this.#standbys[this.#turn];
      if (standby?.connections()) return standby;
    }
    return undefined;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#primaryWatch, ...this.#standbys].map((each) => each.close()));
  }
}

/** Usually cancelled because it took too long, and it would elsewhere as well. */
const queryCancelled = '57014';
/** A conflict with recovery cancelled the statement; the standby is healthy. */
const conflictClass = '40';

/** What caused a read from a standby to fail. Errors of the driver and server have a code. */
function causeOf(error: unknown): 'work' | 'conflict' | 'standby' {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return 'work';
  if (error.code === queryCancelled) return 'work';
  return error.code.startsWith(conflictClass) && error.code.length === 5 ? 'conflict' : 'standby';
}
