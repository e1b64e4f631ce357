import type { Sql, Transaction } from '../../store/database.ts';
import { wholeDaysOf } from '../bounds.ts';
import { intervalsOf } from '../pieces.ts';
import type { DetectedReason, OfferType, SessionOutcome } from '../../vocabulary.ts';

/** How many cancel-flow sessions that began on a UTC day were alike. */
export interface SessionCount {
  /** For example 2026-11-20. */
  readonly day: string;
  readonly reason: DetectedReason;
  readonly offer: OfferType | null;
  /** Null for those in progress. */
  readonly outcome: SessionOutcome | null;
  readonly sessions: number;
}

/**
 * The sessions that began in an interval. Reads the interval's entries of one index.
 * @param from, until epoch milliseconds; includes `from`, excludes `until`
 */
export async function countSessions(
  sql: Sql | Transaction,
  shopId: number,
  from: number,
  until: number,
): Promise<SessionCount[]> {
  return sql<SessionCount[]>`
    select to_char(day at time zone 'UTC', 'YYYY-MM-DD') as day, reason, offer, outcome, sessions
    from (
      select metric_day(created_at) as day, detected_reason as reason, offer_type as offer, outcome,
        count(*) as sessions
      from (
        select created_at, detected_reason, offer_type, outcome from cancellation_sessions
        where shop_id = ${shopId} and created_at >= ${new Date(from).toISOString()}
          and created_at < ${new Date(until).toISOString()}
        order by created_at offset 0
      ) started
      group by metric_day(created_at), detected_reason, offer_type, outcome
    ) counted`;
}

/**
 * The outcomes of the sessions that began in an interval. The cost grows with the number of days, and with the
 * sessions of the first and the last.
 * @param from, until epoch milliseconds; includes `from`, excludes `until`
 */
export async function summariseSessions(
  sql: Sql,
  shopId: number,
  from: number,
  until: number,
): Promise<SessionTotals> {
  const { days, ends } = wholeDaysOf(from, until);
  return totalsOf(
    await sql<Pick<SessionCount, 'outcome' | 'sessions'>[]>`
    select nullif(substr(fact, 9), 'open') as outcome, sum(count)::bigint as sessions
    from (
      select fact, count from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact like 'session\\_%'
      union all
      select 'session_' || coalesce(s.outcome, 'open'), 1 from (${intervalsOf(sql, ends)}) e
      cross join lateral (
        select outcome from cancellation_sessions
        where shop_id = ${shopId} and created_at >= e.since and created_at < e.until
        order by created_at offset 0
      ) s
    ) counted
    group by fact`,
  );
}

/** What became of some sessions. */
export interface SessionTotals {
  readonly saved: number;
  readonly cancelled: number;
  readonly abandoned: number;
  readonly inProgress: number;
  /** All but those in progress. */
  readonly ended: number;
}

export function totalsOf(
  counts: readonly Pick<SessionCount, 'outcome' | 'sessions'>[],
): SessionTotals {
  const total = (outcome: SessionOutcome | null) =>
    counts.reduce((sum, each) => sum + (each.outcome === outcome ? each.sessions : 0), 0);
  const [saved, cancelled, abandoned] = [total('saved'), total('cancelled'), total('abandoned')];
  return {
    saved,
    cancelled,
    abandoned,
    inProgress: total(null),
    ended: saved + cancelled + abandoned,
  };
}
