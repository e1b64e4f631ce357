import { type Period, isoDay, nearestMonthsOf } from './bounds.ts';
import { isoTime } from '../iso-time.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { signedIntervalsOf, listRowSums } from './ledger.ts';
import {
  type SegmentAt,
  rowsInSegment,
  subscriptionsOf,
  recordsOf,
} from './segments/subscriptions.ts';
import type { DetectedReason, OfferType, SessionOutcome } from '../vocabulary.ts';
import type { Ratio } from '../money.ts';
import type { Window } from './churn.ts';
import { monthlyValue, type IntervalText, parseInterval } from '../mrr.ts';
import { changingAfter, statusBy } from './renewals.ts';
import { each, lookup } from '../store/lookup.ts';

/** How many cancel-flow sessions were alike. */
export interface SessionCount {
  readonly reason: DetectedReason;
  readonly offer: OfferType | null;
  /** Null for those in progress. */
  readonly outcome: SessionOutcome | null;
  readonly sessions: number;
}

/** The sessions that began in a period; all of the shop's, or those of a segment. */
const begunIn = (
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment: SegmentAt | undefined,
) =>
  rowsInSegment(
    sql,
    shopId,
    sql`
      select * from cancellation_sessions
      where shop_id = ${shopId} and created_at >= ${isoTime(from)}
        and created_at < ${isoTime(until)}
      order by created_at offset 0`,
    segment,
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

/** The same as countSessions, from the records of a segment or of all subscriptions. */
export function sessionCountsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  segment?: SegmentAt,
): Promise<SessionCount[]> {
  return sql<SessionCount[]>`
    select detected_reason as reason, offer_type as offer, outcome, count(*) as sessions
    from (${begunIn(sql, shopId, period, segment)}) started
    group by detected_reason, offer_type, outcome`;
}

/** How many of the sessions that began on a UTC day had an outcome. */
export interface SessionDay extends Pick<SessionCount, 'outcome' | 'sessions'> {
  /** For example 2026-11-20. */
  readonly day: string;
}

/** The same as listSessionDays, from the records of a segment. */
export function sessionDaysFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  segment?: SegmentAt,
): Promise<SessionDay[]> {
  return sql<SessionDay[]>`
    select to_char(metric_day(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, outcome,
      count(*) as sessions
    from (${begunIn(sql, shopId, period, segment)}) started
    group by metric_day(created_at), outcome`;
}

/** The sessions that began in a period, by day and outcome. */
export async function listSessionDays(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
): Promise<SessionDay[]> {
  const sums = await listRowSums(sql, shopId, period, ['cancellation_sessions']);
  return sums.map(({ day, fact, count }) => {
    const outcome = fact.slice('session_'.length) as SessionOutcome | 'open';
    return { day: isoDay(day), outcome: outcome === 'open' ? null : outcome, sessions: count };
  });
}

/** The outcomes of some sessions. */
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
    counts.reduce((sum, row) => sum + (row.outcome === outcome ? row.sessions : 0), 0);
  const [saved, cancelled, abandoned] = [total('saved'), total('cancelled'), total('abandoned')];
  return {
    saved,
    cancelled,
    abandoned,
    inProgress: total(null),
    ended: saved + cancelled + abandoned,
  };
}

/** The outcomes of cancel-flow sessions with one reason. */
export interface ReasonRow {
  readonly reason: DetectedReason;
  readonly saved: number;
  readonly cancelled: number;
  readonly abandoned: number;
}

/** The sessions that ended, by reason, most frequent first. */
export function outcomesByReason(counts: readonly SessionCount[]): ReasonRow[] {
  return [...Map.groupBy(counts, (row) => row.reason)]
    .map(([reason, alike]) => ({ reason, ...totalsOf(alike) }))
    .filter(({ ended }) => ended > 0)
    .toSorted((a, b) => b.ended - a.ended || (a.reason < b.reason ? -1 : 1))
    .map(({ reason, saved, cancelled, abandoned }) => ({ reason, saved, cancelled, abandoned }));
}

/** Subscriptions that a cancel-flow session kept. */
export interface Kept {
  readonly subscriptions: number;
  /** Their exact monthly value. */
  readonly value: Ratio;
}

interface KeptRow {
  readonly billed: IntervalText;
  readonly subscriptions: number;
  /** Of the prices that count, a decimal. */
  readonly sum: string;
}

/**
 * The subscriptions that are active now and whose last saved session began in a window, at today's prices. Each counts
 * in one window only, so windows that follow one another add up. Reads the window's entries of one index.
 */
export async function summariseKept(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
): Promise<Kept> {
  const [since, end, at] = [from, until, now].map(isoTime) as [string, string, string];
  return keptOf(
    await sql<KeptRow[]>`
    with changing as (
      ${changingAfter(sql, shopId, at)}
      union
      select subscription_id from (
        select subscription_id, outcome from cancellation_sessions
        where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
      ) c
      where outcome = 'saved' and subscription_id is not null
    ),
    kept as (
      select plan_id, own_interval_unit, own_interval_count, null::jsonb as other_intervals,
        false as is_in_trial, count(*) as count, 1 as sign, sum(current_price) as price
      from (
        select plan_id, own_interval_unit, own_interval_count, current_price from subscriptions
        where shop_id = ${shopId} and status = 'active' and saved_at is not null
          and saved_at >= ${since} and saved_at < ${end}
        order by saved_at offset 0
      ) s
      group by plan_id, own_interval_unit, own_interval_count
      union all
      -- The value of some is not simply their price, which is taken back.
      select s.plan_id, s.own_interval_unit, s.own_interval_count,
        case when v.sign > 0 then s.other_intervals end, v.sign > 0 and s.trial_ends_at > ${at} is true, v.sign,
        v.sign, s.current_price
      from (
        select * from subscriptions
        where shop_id = ${shopId} and status = 'active' and saved_at is not null
          and (other_intervals is not null or trial_ends_at is not null)
          and saved_at >= ${since} and saved_at < ${end}
        order by saved_at offset 0
      ) s
      cross join lateral (values (1), (-1)) v (sign)
      union all
      -- What is stored is the final state: what holds now replaces it.
      select s.plan_id, s.own_interval_unit, s.own_interval_count, s.other_intervals,
        s.trial_ends_at > ${at} is true, s.sign, s.sign, s.current_price
      from changing c
      cross join lateral (
        select plan_id, own_interval_unit, own_interval_count, current_price, other_intervals, trial_ends_at,
          coalesce(status_since is not null and created_at <= ${at} and coalesce(seen.to_status, 'active') = 'active'
              and session.saved_at >= ${since} and session.saved_at < ${end}, false)::int
            - coalesce(status = 'active' and subscriptions.saved_at >= ${since}
              and subscriptions.saved_at < ${end}, false)::int as sign
        from subscriptions
        ${statusBy(sql, shopId, at)}
        left join lateral (
          select max(created_at) as saved_at from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 'c.subscription_id')} s
          where outcome = 'saved' and created_at <= ${at}
        ) session on true
        where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
        order by subscription_id limit 1
      ) s
    )
    select v.billed_at as billed, sum(k.count * v.subscriptions)::bigint as subscriptions,
      sum(case when k.is_in_trial then 0 else k.sign * v.price_then end) as sum
    from kept k
    cross join lateral (
      select coalesce(k.own_interval_unit, interval_unit) || ' '
        || coalesce(k.own_interval_count, interval_count) as billed
      from plans where shop_id = ${shopId} and plan_id = k.plan_id limit 1
    ) p
    cross join lateral prices_by_interval(k.price, k.other_intervals, p.billed) v
    group by v.billed_at`,
  );
}

/** @param rows by billing interval */
function keptOf(rows: readonly KeptRow[]): Kept {
  return {
    subscriptions: rows.reduce((total, row) => total + row.subscriptions, 0),
    value: monthlyValue(rows.map(({ billed, sum }) => ({ ...parseInterval(billed), sum }))),
  };
}

/** The same as summariseKept, from the records of a segment or of all subscriptions. */
export async function keptFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
  segment?: SegmentAt,
): Promise<Kept> {
  const sessions = recordsOf(
    sql,
    shopId,
    'cancellation_sessions',
    ['-infinity', isoTime(now + 1)],
    segment,
  );
  return keptOf(
    await sql<KeptRow[]>`
    with in_segment as (${subscriptionsOf(sql, shopId, segment)}),
    instants as materialized (
      select ${isoTime(from)}::timestamptz as since, ${isoTime(until)}::timestamptz as until,
        ${isoTime(now)}::timestamptz as now
    ),
    saved as (
      select c.subscription_id, max(c.created_at) as at
      from (${sessions}) c
      where c.outcome = 'saved'
      group by c.subscription_id
    )
    select v.billed_at as billed, sum(v.subscriptions)::bigint as subscriptions,
      sum(case when s.trial_ends_at > i.now then 0 else v.price_then end) as sum
    from instants i
    join saved on saved.at >= i.since and saved.at < i.until
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'saved.subscription_id')} s
    cross join lateral (
      select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
      order by e.position desc limit 1
    ) seen on true
    cross join lateral prices_by_interval(s.current_price, s.other_intervals,
      coalesce(s.own_interval_unit, p.interval_unit) || ' ' || coalesce(s.own_interval_count, p.interval_count)) v
    where s.status_since is not null and s.created_at <= i.now and coalesce(seen.to_status, 'active') = 'active'
    group by v.billed_at`,
  );
}
