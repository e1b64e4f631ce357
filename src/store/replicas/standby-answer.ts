import type { PrimaryAnswer } from './primary-positions.ts';

/** A standby that lags more than this answers no request. */
export const boundMilliseconds = 2_000;

/** What a standby says of itself. */
export interface StandbyAnswer {
  readonly isInRecovery: boolean;
  /** Up to where it has replayed the primary's log; null where nothing ever was. */
  readonly position: number | null;
  readonly system: string;
  readonly database: string;
}

export const standbyQuestion = `
  select pg_is_in_recovery() as "isInRecovery",
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position,
    system_identifier::text as system, current_database() as database
  from pg_control_system()`;

/** Why its data are not the primary's, however little it may lag; undefined where they may be. */
export function strangenessOf(standby: StandbyAnswer, primary: PrimaryAnswer) {
  if (!standby.isInRecovery || standby.position === null) {
    return 'it is not in recovery: it was promoted, or is no standby';
  }
  if (standby.system !== primary.system || standby.database !== primary.database) {
    return 'it belongs to another cluster or database than the primary';
  }
  return undefined;
}
