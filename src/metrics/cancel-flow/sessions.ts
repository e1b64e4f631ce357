import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, nearestMonthsOf, wholeDaysOf } from '../bounds.ts';
import { intervalsOf, signedIntervalsOf } from '../pieces.ts';
import { type Selection, ofSelection } from '../segments/chosen.ts';
import type { DetectedReason, OfferType, SessionOutcome } from '../../vocabulary.ts';

/** How many cancel-flow sessions were alike. */
export interface SessionCount {
  readonly reason: DetectedReason;
  readonly offer: OfferType | null;
  /** Null for those in progress. */
  readonly outcome: SessionOutcome | null;
  readonly sessions: number;
}

/** The sessions that began in a period; all of the shop's, or those of a selection. */
const begunIn = (
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection: Selection | undefined,
) =>
  ofSelection(
    sql,
    shopId,
    sql`
      select * from cancellation_sessions
      where shop_id = ${shopId} and created_at >= ${new Date(from).toISOString()}
        and created_at < ${new Date(until).toISOString()}
      order by created_at offset 0`,
    selection,
  );

/**
 * How many sessions began in a period. The cost grows with the number of months, and with the sessions between its
 * ends and the nearest starts of months.
 */
export function countSessions(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
): Promise<SessionCount[]> {
  const { months, ends } = nearestMonthsOf(period);
  return sql<SessionCount[]>`
    select reason, nullif(offer, 'none') as offer, nullif(outcome, 'open') as outcome,
      sum(count)::bigint as sessions
    from (
      select split_part(fact, ' ', 2) as outcome, split_part(fact, ' ', 3) as reason,
        split_part(fact, ' ', 4) as offer, count
      from metric_ledger
      where shop_id = ${shopId} and grain = 'month'
        and bucket >= ${months[0]} and bucket < ${months[1]} and fact like 'cancel\\_flow %'
      union all
      select coalesce(s.outcome, 'open'), s.detected_reason, coalesce(s.offer_type, 'none'),
        e.sign * s.count
      from (${signedIntervalsOf(sql, ends)}) e
      cross join lateral (
        select detected_reason, offer_type, outcome, count(*) as count
        from (
          select * from cancellation_sessions
          where shop_id = ${shopId} and created_at >= e.since and created_at < e.until
          order by created_at offset 0
        ) began
        group by detected_reason, offer_type, outcome
      ) s
    ) counted
    group by counted.outcome, counted.reason, counted.offer
    having sum(count) <> 0`;
}

/** The same as countSessions, from the records: those of a selection, or all of the shop's. */
export function sessionCountsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  selection?: Selection,
): Promise<SessionCount[]> {
  return sql<SessionCount[]>`
    select detected_reason as reason, offer_type as offer, outcome, count(*) as sessions
    from (${begunIn(sql, shopId, period, selection)}) started
    group by detected_reason, offer_type, outcome`;
}

/** How many of the sessions that began on a UTC day had an outcome. */
export interface SessionDay extends Pick<SessionCount, 'outcome' | 'sessions'> {
  /** For example 2026-11-20. */
  readonly day: string;
}

/** The same as listSessionDays, from the records of a selection. */
export function sessionDaysFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  selection?: Selection,
): Promise<SessionDay[]> {
  return sql<SessionDay[]>`
    select to_char(metric_day(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, outcome,
      count(*) as sessions
    from (${begunIn(sql, shopId, period, selection)}) started
    group by metric_day(created_at), outcome`;
}

/**
 * The sessions that began in a period by day and outcome. The cost grows with the number of days, and with the
 * sessions of the first and the last.
 */
export async function listSessionDays(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
): Promise<SessionDay[]> {
  const { days, ends } = wholeDaysOf(from, until);
  return sql<SessionDay[]>`
    select to_char(metric_day(at) at time zone 'UTC', 'YYYY-MM-DD') as day,
      nullif(substr(fact, 9), 'open') as outcome, sum(count)::bigint as sessions
    from (
      select bucket as at, fact, count from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact like 'session\\_%'
      union all
      select s.created_at, 'session_' || coalesce(s.outcome, 'open'), 1
      from (${intervalsOf(sql, ends)}) e
      cross join lateral (
        select created_at, outcome from cancellation_sessions
        where shop_id = ${shopId} and created_at >= e.since and created_at < e.until
        order by created_at offset 0
      ) s
    ) counted
    group by metric_day(at), fact`;
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
