import type { PrimaryAnswer } from './primary-positions.ts';

/** Requests never read from a standby that lags more than this. */
export const maxLagMilliseconds = 2_000;

/** A standby's state. */
export interface StandbyAnswer {
  readonly isInRecovery: boolean;
  /** How far it has replayed the primary's log; null if it never has. */
  readonly position: number | null;
  readonly system: string;
  readonly database: string;
}

export const standbyQuery = `
  select pg_is_in_recovery() as "isInRecovery",
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position,
    system_identifier::text as system, current_database() as database
  from pg_control_system()`;

/** Why this is not a standby of the primary; undefined if it may be one. */
export function mismatchOf(standby: StandbyAnswer, primary: PrimaryAnswer) {
  if (!standby.isInRecovery || standby.position === null) {
    return 'it is not in recovery: it was promoted, or is not a standby';
  }
  if (standby.system !== primary.system || standby.database !== primary.database) {
    return 'it belongs to another cluster or database than the primary';
  }
  return undefined;
}
