import type { Workload } from '../workloads.ts';
import type { World } from '../world.ts';

/** A part of the benchmark that can run by itself. */
export interface Section {
  readonly name: string;
  /**
   * Measures and prints.
   * @param workloads the operations to request; a section that needs one uses the first
   */
  measure(world: World, workloads: readonly [Workload, ...Workload[]]): Promise<void>;
}
