import { type Membership, askWithMembership } from '../cluster/membership.ts';
import type { Sql } from '../database.ts';

/** The primary's state. A position is a byte offset in its write-ahead log. */
export interface PrimaryAnswer {
  readonly position: number;
  /** Identifies the cluster; its standbys have the same identifier. */
  readonly system: string;
  readonly database: string;
  /** Null if it is not part of a Citus cluster. */
  readonly membership: Membership | null;
}

export function askPrimary(sql: Sql): Promise<PrimaryAnswer | undefined> {
  return askWithMembership(sql, primaryQuery);
}

const primaryQuery = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as position,
    system_identifier::text as system, current_database() as database
  from pg_control_system()`;

interface Sample {
  readonly position: number;
  readonly at: number;
}

/** If a standby lags more than this, its lag is no longer exact. */
const memoryMilliseconds = 300_000;

/**
 * A recent history of the primary's positions. Each is dated with this process's monotonic clock just before
 * the query, so everything committed by that time lies before the position.
 */
export class PrimaryPositions {
  #latest: (PrimaryAnswer & Sample) | undefined;
  /** In ascending order; the latest is last. */
  #samples: Sample[] = [];

  get latest(): (PrimaryAnswer & Sample) | undefined {
    return this.#latest;
  }

  /** @param at monotonic milliseconds just before the query was sent */
  add(answer: PrimaryAnswer, at: number): void {
    const { position } = answer;
    if (this.#latest && answer.system !== this.#latest.system) this.#samples = [];
    this.#latest = { ...answer, at };
    // Of several samples of one position, the latest is the most precise. After a primary has gone back,
    // for example when restored from a backup, later positions are invalid.
    this.#samples = this.#samples.filter(
      (each) => each.position < position && at - each.at <= memoryMilliseconds,
    );
    this.#samples.push({ position, at });
  }

  /**
   * The time by which a server at `position` has replayed everything that was committed.
   * @returns monotonic milliseconds; undefined if no sample is old enough
   */
  timeOf(position: number): number | undefined {
    return this.#samples.findLast((each) => each.position <= position)?.at;
  }
}
