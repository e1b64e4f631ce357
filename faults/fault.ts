import type { World } from './world.ts';

/** A failure that the drill injects and then repairs. */
export interface Fault {
  readonly name: string;
  /** False if the service must not refuse any request; by default it may during the fault. */
  readonly mayRefuse?: boolean;
  /** Runs before the fault. */
  prepare?(world: World): Promise<void>;
  /** Causes the fault and lets it last for a while. */
  inject(world: World): Promise<void>;
  /** Removes the cause; recovery is timed from here. */
  end(world: World): Promise<void>;
  /** @returns other problems, as sentences */
  check?(world: World): string[];
}
