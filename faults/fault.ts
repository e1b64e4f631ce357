import type { Outcome } from '../test/support/traffic.ts';
import type { Scene } from './scene.ts';
import type { World } from './world.ts';

/** A failure that the drill injects and then repairs. */
export interface Fault<Place extends Scene = World> {
  readonly name: string;
  /** False if the service must not refuse any request; by default it may during the fault. */
  readonly mayRefuse?: boolean;
  /** Runs before the fault. */
  prepare?(world: Place): Promise<void>;
  /** Causes the fault and lets it last for a while. */
  inject(world: Place): Promise<void>;
  /** Removes the cause; recovery is timed from here. */
  end(world: Place): Promise<void>;
  /**
   * @param outcomes of the requests during the fault
   * @returns other problems, as sentences
   */
  check?(world: Place, outcomes: readonly Outcome[]): string[];
}
