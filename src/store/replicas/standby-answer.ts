import { type Membership, askWithMembership } from '../cluster/membership.ts';
import type { Sql } from '../database.ts';
import type { PrimaryAnswer } from './primary-positions.ts';

/** Requests never read from a standby that lags more than this. */
export const maxLagMilliseconds = 2_000;

/** The state of a server that may be read from: a hot standby, or a worker of a Citus cluster. */
export interface StandbyAnswer {
  readonly isInRecovery: boolean;
  /** How far it has replayed the primary's log; null if it never has. */
  readonly position: number | null;
  readonly system: string;
  readonly database: string;
  /** Null if it is not part of a Citus cluster. */
  readonly membership: Membership | null;
}

export function askStandby(sql: Sql): Promise<StandbyAnswer | undefined> {
  return askWithMembership(sql, standbyQuery);
}

/** Workers read the shards themselves, so they have nothing to catch up with. */
export function isWorker({ isInRecovery, membership }: StandbyAnswer): boolean {
  return !isInRecovery && membership !== null && membership.group !== 0;
}

const standbyQuery = `
  select pg_is_in_recovery() as "isInRecovery",
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position,
    system_identifier::text as system, current_database() as database
  from pg_control_system()`;

/** Why this is neither a standby of the primary nor a worker of its cluster; undefined if it may be one. */
export function mismatchOf(standby: StandbyAnswer, primary: PrimaryAnswer) {
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
  if (!standby.isInRecovery || standby.position === null) {
    return 'it is not in recovery: it was promoted, or is not a standby';
  }
  if (standby.system !== primary.system || standby.database !== primary.database) {
    return 'it belongs to another cluster or database than the primary';
  }
  return undefined;
}
