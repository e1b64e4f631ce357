import type { Work } from '../works.ts';
import type { World } from '../world.ts';

/** A part of the benchmark that can run alone. */
export interface Section {
  readonly name: string;
  /**
   * Prints what it measures.
   * @param works what is asked for; the first where one is enough
   */
  measure(world: World, works: readonly [Work, ...Work[]]): Promise<void>;
}
