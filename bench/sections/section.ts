import type { Work } from '../works.ts';
import type { World } from '../world.ts';

/** A part of the benchmark that can run by itself. */
export interface Section {
  readonly name: string;
  /**
   * Measures and prints.
   * @param works the operations to request; a section that needs one uses the first
   */
  measure(world: World, works: readonly [Work, ...Work[]]): Promise<void>;
}
