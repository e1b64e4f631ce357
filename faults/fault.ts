import type { World } from './world.ts';

/** A failure that is caused and then repaired. */
export interface Fault {
  readonly name: string;
  /** False if no request may be refused; by default requests may be refused during the fault. */
  readonly mayRefuse?: boolean;
  /** Runs before the fault. */
  prepare?(world: World): Promise<void>;
  /** Causes the fault and lets it last for a while. */
  inflict(world: World): Promise<void>;
  /** Removes the cause; recovery is timed from here. */
  end(world: World): Promise<void>;
  /** @returns other problems, as sentences */
  check?(world: World): string[];
}
