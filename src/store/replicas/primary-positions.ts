/** What the primary says of itself. A position counts the bytes of its write-ahead log. */
export interface PrimaryAnswer {
  readonly position: number;
  /** Identifies the cluster; what was copied from it has the same. */
  readonly system: string;
  readonly database: string;
}

export const primaryQuestion = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as position,
    system_identifier::text as system, current_database() as database
  from pg_control_system()`;

interface Remembered {
  readonly position: number;
  readonly at: number;
}

/** Of a standby that is further behind, the lag is no longer exact. */
const memoryMilliseconds = 300_000;

/**
 * Where the primary was, and when, by this process's monotonic clock just before it was asked: what
 * had been committed by that time lies before the position that it answered.
 */
export class PrimaryPositions {
  #latest: (PrimaryAnswer & Remembered) | undefined;
  /** Ever higher, the latest last. */
  #remembered: Remembered[] = [];

  get latest(): (PrimaryAnswer & Remembered) | undefined {
    return this.#latest;
  }

  /** @param at monotonic milliseconds just before the primary was asked */
  add(answer: PrimaryAnswer, at: number): void {
    const { position } = answer;
    if (this.#latest && answer.system !== this.#latest.system) this.#remembered = [];
    this.#latest = { ...answer, at };
    // Of one position the latest time says most. A primary that has gone back, as after it was
    // restored from a backup, has another history from there on.
    this.#remembered = this.#remembered.filter(
      (each) => each.position < position && at - each.at <= memoryMilliseconds,
    );
    this.#remembered.push({ position, at });
  }

  /**
   * Everything that was committed by this time has been replayed by a server that is at `position`.
   * @returns monotonic milliseconds; undefined where nothing that is remembered lies so far back
   */
  timeOf(position: number): number | undefined {
    return this.#remembered.findLast((each) => each.position <= position)?.at;
  }
}
