import type { World } from './world.ts';

/** Something that goes wrong, and is put right. */
export interface Fault {
  readonly name: string;
  /** False if no request may be refused; by default any may be while the fault lasts. */
  readonly mayRefuse?: boolean;
  /** Before anything goes wrong. */
  prepare?(world: World): Promise<void>;
  /** Makes it go wrong, and lets it be wrong for a while. */
  inflict(world: World): Promise<void>;
  /** Takes the cause away. From then on recovery is timed. */
  end(world: World): Promise<void>;
  /** @returns what else was wrong, as sentences */
  check?(world: World): string[];
}
