import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerAnswer, askServer } from '../cluster/cluster.ts';
import { type Sql, connect } from '../database.ts';
import { systemClock } from '../../clock.ts';

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
  #latest: (ServerAnswer & Sample) | undefined;
  /** In ascending order; the latest is last. */
  #samples: Sample[] = [];

  get latest(): (ServerAnswer & Sample) | undefined {
    return this.#latest;
  }

  /** @param at monotonic milliseconds just before the query was sent */
  add(answer: ServerAnswer, at: number): void {
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

/** Requests never read from a standby that lags more than this. */
export const maxLagMilliseconds = 2_000;

/** Workers read the shards themselves, so they have nothing to catch up with. */
export function isWorker({ isInRecovery, membership }: ServerAnswer): boolean {
  return !isInRecovery && membership !== null && membership.group !== 0;
}

/** Why this is neither a standby of the primary nor a worker of its cluster; undefined if it may be one. */
export function mismatchOf(standby: ServerAnswer, primary: ServerAnswer) {
  if (isWorker(standby)) {
    if (
      standby.membership?.cluster !== primary.membership?.cluster ||
      standby.database !== primary.database
    ) {
      return 'it is a worker of another cluster or database';
    }
    return standby.membership?.isSynced === true
      ? undefined
      : 'it is a worker that does not know where all shards are';
  }
  if (!standby.isInRecovery || standby.position === 0) {
    return 'it is not in recovery: it was promoted, or is not a standby';
  }
  if (standby.system !== primary.system || standby.database !== primary.database) {
    return 'it belongs to another cluster or database than the primary';
  }
  return undefined;
}

const pauseMilliseconds = 20;

/**
 * Checks whether a standby can be read from, by measuring how long it takes to reach the primary's position.
 * @throws if a server cannot be queried
 */
export async function checkStandby(
  primary: Sql,
  address: string,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const sql = connect(address, {
    name: 'doctor',
    connections: 1,
    readOnly: true,
    allowStandby: true,
    statementTimeoutMilliseconds: 5_000,
  });
  try {
    // Connect first, so that it does not count as lag.
    await sql`select 1`;
    const askedAt = systemClock.monotonic();
    const leader = await askServer(primary);
    for (;;) {
      const standby = await askServer(sql);
      const lag = systemClock.monotonic() - askedAt;
      const mismatch = mismatchOf(standby, leader);
      if (mismatch) return { ok: false, detail: mismatch };
      if (isWorker(standby)) return { ok: true, detail: 'a worker of the cluster' };
      if (standby.position >= leader.position) {
        return { ok: true, detail: `in recovery, lags ${Math.ceil(lag)} ms` };
      }
      if (lag > maxLagMilliseconds) {
        return { ok: false, detail: `in recovery, lags more than ${maxLagMilliseconds} ms` };
      }
      await sleep(pauseMilliseconds);
    }
  } finally {
    await sql.end(0);
  }
}
