import type { Sql, Transaction } from '../store/database.ts';
import {
  type Bounds,
  type Interval,
  type Period,
  boundsOf,
  lastBefore,
  type restOfTime,
} from './bounds.ts';
import { piecesOf, reachesOf } from './pieces.ts';

/*
 * Parts of the statements for figures and history. They read the parts `kept`, `ends`, `superseded` and
 * `changed_after` by name. Each look-up asks for the order of the one index that must serve it (docs/decisions/0005-plans-and-statements.md).
 */

/** What the figures are about. Times are ISO 8601. */
export interface Scope {
  readonly shopId: number;
  /** The instant of which the state is, and what happens then is in it: the last of the period, or now. */
  readonly at: string;
  /** The start of the period. */
  readonly since: string;
  readonly bounds: Bounds;
}

type Connection = Sql | Transaction;

export function scopeOf(shopId: number, { from, until }: Period, at = lastBefore(until)): Scope {
  return { shopId, since: new Date(from).toISOString(), at, bounds: boundsOf(from, until) };
}

/** What happened in the period. What is read one by one has the start of its part of a day. */
export const happened = (sql: Connection, { shopId, bounds }: Scope) => sql`
  select l.* from (${piecesOf(sql, bounds)}) piece
  cross join lateral (
    select fact, bucket as at, count, amount from metric_ledger
    where shop_id = ${shopId} and grain = piece.grain
      and bucket >= piece.since and bucket < piece.until and fact <> 'renewal'
    offset 0
  ) l
  union all
  select v.fact, changed.day, v.count, 0
  from (
    select metric_day(e.since) as day, sum(new_subscriber) as new_subscriber,
      sum(cancelled) as cancelled, sum(churned) as churned, sum(expired) as expired
    from ends e
    cross join lateral (
      select * from subscriber_changes
      where shop_id = ${shopId} and at >= e.since and at < e.until order by at offset 0
    ) c
    group by metric_day(e.since)
  ) changed
  cross join lateral (values ('new_subscriber', new_subscriber), ('cancelled', cancelled),
    ('churned', churned), ('expired', expired)) v (fact, count)
  union all
  select 'paid', e.since, 1, p.amount from ends e
  cross join lateral (
    select amount from payments
    where shop_id = ${shopId} and status = 'succeeded'
      and processed_at >= e.since and processed_at < e.until
    order by processed_at offset 0
  ) p
  union all
  select 'refunded', e.since, 1, r.amount from ends e
  cross join lateral (
    select amount from refunds
    where shop_id = ${shopId} and refunded_at >= e.since and refunded_at < e.until
    order by refunded_at offset 0
  ) r
  union all
  select 'cycle_failed', e.since, 1, 0 from ends e
  cross join lateral (
    select from failed_cycles
    where shop_id = ${shopId} and is_last and failed_at >= e.since and failed_at < e.until
    order by failed_at offset 0
  ) f
  union all
  select 'session_' || coalesce(s.outcome, 'open'), e.since, 1, 0 from ends e
  cross join lateral (
    select outcome from cancellation_sessions
    where shop_id = ${shopId} and created_at >= e.since and created_at < e.until
    order by created_at offset 0
  ) s
  union all
  select 'dunning_' || d.result, e.since, 1, 0 from ends e
  cross join lateral (
    select result from dunning_cases
    where shop_id = ${shopId} and closed_at >= e.since and closed_at < e.until
    order by closed_at offset 0
  ) d`;

/** What held at an instant, or failed around it, until something followed. */
export const superseded = (sql: Connection, shopId: number, at: string) => sql`
  select f.* from (${reachesOf(sql, at)}) r
  cross join lateral (
    select subscription_id, fact, cycle, until, since, began_at, left_as, final
    from superseded_facts
    where shop_id = ${shopId} and reach = r.reach
      and until >= ${at} and until <= r.until and since <= ${at}
    order by until offset 0
  ) f`;

/** A cycle counts at its last failure; if that is after the period, the last one in the period counts. */
export const failingAgain = (sql: Connection, { shopId, since, at }: Scope) => sql`
  select 'cycle_failed' as fact, s.failed_at as at, 1 as count, 0 as amount
  from (
    select *, case when began_at < ${at} then began_at else since end as failed_at from superseded
    where fact = 'cycle_failed' and since < ${at}
  ) s
  -- The first failure of a day may be before a period that starts and ends on that day.
  left join lateral (
    select true as failed_in_period from payments p
    where s.failed_at < ${since} and s.failed_at = s.began_at
      and p.shop_id = ${shopId}
      and p.subscription_id between s.subscription_id and s.subscription_id
      and p.cycle = s.cycle and p.processed_at >= ${since} and p.processed_at < ${at}
      and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
    order by p.subscription_id, p.processed_at limit 1
  ) later on true
  where s.failed_at >= ${since} or failed_in_period`;

/** What changed in an interval, such as the rest of a day. */
export const changesIn = (sql: Connection, shopId: number, [from, until]: Interval) => sql`
  select at, subscriber, paused_subscriber, live, active from subscriber_changes
  where shop_id = ${shopId} and at >= ${from} and at < ${until} order by at offset 0`;

/**
 * The state at the scope's instant: the final state, minus all changes after it.
 * @param after what is left of time after it
 */
export const state = (
  sql: Connection,
  { shopId, at }: Scope,
  after: ReturnType<typeof restOfTime>,
) => sql`
  select fact, count, amount from metric_ledger
  where shop_id = ${shopId} and grain = 'all'
  union all
  select fact, -count, -amount from metric_ledger
  where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
  union all
  select v.fact, -v.count, 0
  from (
    select sum(subscriber) as subscriber, sum(paused_subscriber) as paused, sum(live) as live
    from changed_after
  ) c
  cross join lateral (values ('subscriber', subscriber), ('paused_subscriber', paused),
    ('live', live)) v (fact, count)
  union all
  select a.fact, -a.count, -a.amount from changed_after c cross join lateral unnest(c.active) a
  union all
  (
    select 'dunning_open', -1, 0 from dunning_cases
    where shop_id = ${shopId} and opened_at >= ${after.end[0]} and opened_at < ${after.end[1]}
    order by opened_at offset 0
  )
  union all
  (
    select 'dunning_open', 1, 0 from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${after.end[0]} and closed_at < ${after.end[1]}
    order by closed_at offset 0
  )
  union all
  -- Churn risk is determined just before it.
  select 'live', -c.live, 0
  from (
    select live from subscriber_changes
    where shop_id = ${shopId} and at >= ${at} and at <= ${at} order by at offset 0
  ) c`;

/**
 * Of subscriptions that changed at the scope's instant or later: what held then, minus what the ledger has, which
 * counts them by their final status. Being `gone` only says that they were live in the period, or just before.
 */
export const corrections = (sql: Connection, { at, since }: Scope) => sql`
  select v.fact, v.at, v.count, 0 as amount
  from (
    select *, until > ${at} and fact in ('cancelled', 'failed') as is_churned from superseded
    where fact <> 'cycle_failed' and since < ${at}
  ) s
  cross join lateral (values
    ('cancelled', s.since, (s.until > ${at} and s.fact = 'cancelled')::int),
    ('churned', s.began_at, s.is_churned::int - (s.final not in ('', 'expired'))::int),
    ('expired', s.began_at, -(s.final = 'expired')::int),
    ('gone', s.began_at, 1 - s.is_churned::int)
  ) v (fact, at, count)
  where v.at >= ${since} and v.count <> 0`;
