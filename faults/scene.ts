import type { PostgresServer } from '../test/support/postgres.ts';
import type { Traffic } from '../test/support/traffic.ts';
import type { Instance } from './instance.ts';
import type { Owner } from './owner.ts';

/** What faults are injected into, and what shows their effects. */
export interface Scene {
  readonly instances: readonly Instance[];
  readonly traffic: Traffic;
  readonly owner: Owner;
  /** Removes what an earlier fault left behind. */
  cleanUp?(): void;
  /** The database servers that must be running after a fault. */
  listServers(): readonly PostgresServer[];
  /**
   * Why the dependencies are not all in use yet; undefined if they are.
   * @param since a moment of the monotonic clock; what happened before it does not count
   */
  findObstacle(since: number): Promise<string | undefined>;
}
