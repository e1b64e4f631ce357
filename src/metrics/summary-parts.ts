import type { Sql, Transaction } from '../store/database.ts';
import { type Bounds, type Period, boundsOf, restOfTime } from './bounds.ts';
import { piecesOf } from './pieces.ts';

/*
 * Parts of the summary's statement. They read the parts `kept`, `past_ends` and `next_ends`, and one another,
 * by name. Each look-up asks for the order of the one index that must serve it (docs/decisions/0032-plans.md).
 */

/** What the figures are about. Times are ISO 8601. */
export interface Scope {
  readonly shopId: number;
  /** The end of the period. */
  readonly at: string;
  /** The start of the period. */
  readonly since: string;
  /** The end of the coming window. */
  readonly until: string;
  readonly past: Bounds;
  readonly next: Bounds;
  /** What is left of time after the instant. */
  readonly after: ReturnType<typeof restOfTime>;
}

const iso = (at: number) => new Date(at).toISOString();

/** @param coming the length of the coming window, in milliseconds */
export function scopeOf(shopId: number, { from, until }: Period, coming: number): Scope {
  return {
    shopId,
    at: iso(until),
    since: iso(from),
    until: iso(until + coming),
    past: boundsOf(from, until),
    next: boundsOf(until, until + coming),
    // The state at an instant includes changes at that instant.
    after: restOfTime(until + 1),
  };
}

type Connection = Sql | Transaction;

/** What happened in the past window. */
export const happened = (sql: Connection, { shopId, past }: Scope) => sql`
  select l.* from (${piecesOf(sql, past)}) piece
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
    from past_ends e
    cross join lateral (
      select * from subscriber_changes
      where shop_id = ${shopId} and at >= e.since and at < e.until order by at offset 0
    ) c
    group by metric_day(e.since)
  ) changed
  cross join lateral (values ('new_subscriber', new_subscriber), ('cancelled', cancelled),
    ('churned', churned), ('expired', expired)) v (fact, count)
  union all
  select 'paid', e.since, 1, p.amount from past_ends e
  cross join lateral (
    select amount from payments
    where shop_id = ${shopId} and status = 'succeeded'
      and processed_at >= e.since and processed_at < e.until
    order by processed_at offset 0
  ) p
  union all
  select 'refunded', e.since, 1, r.amount from past_ends e
  cross join lateral (
    select amount from refunds
    where shop_id = ${shopId} and refunded_at >= e.since and refunded_at < e.until
    order by refunded_at offset 0
  ) r
  union all
  select 'cycle_failed', e.since, 1, 0 from past_ends e
  cross join lateral (
    select from failed_cycles
    where shop_id = ${shopId} and is_last and failed_at >= e.since and failed_at < e.until
    order by failed_at offset 0
  ) f
  union all
  select 'session_' || coalesce(s.outcome, 'open'), e.since, 1, 0 from past_ends e
  cross join lateral (
    select outcome from cancellation_sessions
    where shop_id = ${shopId} and created_at >= e.since and created_at < e.until
    order by created_at offset 0
  ) s
  union all
  select 'dunning_' || d.result, e.since, 1, 0 from past_ends e
  cross join lateral (
    select result from dunning_cases
    where shop_id = ${shopId} and closed_at >= e.since and closed_at < e.until
    order by closed_at offset 0
  ) d`;

/** A cycle counts at its last failure; if that is in the future, an earlier one may count. */
export const failingAgain = (sql: Connection, { shopId, since, at }: Scope) => sql`
  select 'cycle_failed' as fact, earlier.processed_at as at, 1 as count, 0 as amount
  from (
    select subscription_id, cycle from failed_cycles
    where shop_id = ${shopId} and failed_at >= ${at} and is_last
    order by failed_at offset 0
  ) f
  -- The limit also keeps the planner from starting with the window's payments.
  cross join lateral (
    select p.processed_at from payments p
    where p.shop_id = ${shopId} and p.subscription_id between f.subscription_id and f.subscription_id
      and p.cycle = f.cycle and p.processed_at >= ${since} and p.processed_at < ${at}
      and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
    order by p.subscription_id desc, p.processed_at desc limit 1
  ) earlier`;

/** The renewals of the coming window. */
export const renewing = (sql: Connection, { shopId, next }: Scope) => sql`
  select l.* from (${piecesOf(sql, next)}) piece
  cross join lateral (
    select count, amount from metric_ledger
    where shop_id = ${shopId} and grain = piece.grain
      and bucket >= piece.since and bucket < piece.until and fact = 'renewal'
    offset 0
  ) l
  union all
  select 1, s.current_price from next_ends e
  cross join lateral (
    select current_price from subscriptions
    where shop_id = ${shopId} and status = 'active'
      and next_billing_at >= e.since and next_billing_at < e.until
    order by next_billing_at offset 0
  ) s`;

/** The state at the instant: the final state, minus all changes after it. */
export const state = (sql: Connection, { shopId, after, at }: Scope) => sql`
  select fact, count, amount from metric_ledger
  where shop_id = ${shopId} and grain = 'all'
  union all
  select fact, -count, -amount from metric_ledger
  where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
  union all
  (
    select fact, -count, -amount from subscriber_facts
    where shop_id = ${shopId} and at >= ${after.end[0]} and at < ${after.end[1]}
      and is_state(fact)
    order by at offset 0
  )
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
  -- Churn risk is determined just before the instant.
  (
    select fact, -count, 0 from subscriber_facts
    where shop_id = ${shopId} and at >= ${at} and at <= ${at} and fact = 'live'
    order by at offset 0
  )`;

/**
 * The subscriptions that change at the instant or later: the ledger has only their final state. Each is found
 * by its last event, because removing duplicates would make the planner reserve too much memory.
 */
export const changing = (sql: Connection, { shopId, at }: Scope) => sql`
  select e.subscription_id
  from (
    select subscription_id, position from status_events
    where shop_id = ${shopId} and at >= ${at} order by at offset 0
  ) e
  left join lateral (
    select true as is_followed from status_events
    where shop_id = ${shopId} and subscription_id = e.subscription_id
      and position > e.position
    order by position limit 1
  ) later on true
  where is_followed is null
  union all
  select s.subscription_id
  from (
    select subscription_id from subscriptions
    where shop_id = ${shopId} and created_at >= ${at} order by created_at offset 0
  ) s
  left join lateral (
    select true as is_followed from status_events
    where shop_id = ${shopId} and subscription_id = s.subscription_id
    order by position limit 1
  ) later on true
  where is_followed is null`;

/** What those subscriptions' histories say, minus what the ledger has, which omits anything in the future. */
export const corrections = (sql: Connection, { shopId, at, since, until }: Scope) => sql`
  select v.fact, v.at, v.count, v.amount
  from changing c
  cross join lateral (
    select * from subscriptions
    where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
    order by subscription_id limit 1
  ) s
  left join lateral (
    select to_status, at from status_events
    where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= ${at}
    order by position desc limit 1
  ) seen on true
  left join lateral (
    select to_status from status_events
    where shop_id = ${shopId} and subscription_id = c.subscription_id and at < ${at}
    order by position desc limit 1
  ) before on true
  left join lateral (
    select max(at) filter (where at < ${at}) as before, max(at) as last
    from (
      select * from status_events
      where shop_id = ${shopId} and subscription_id = c.subscription_id order by position offset 0
    ) e
    where from_status in ('active', 'paused') and to_status not in ('active', 'paused')
  ) leaving on true
  cross join lateral (
    select case when s.created_at <= ${at} then coalesce(seen.to_status, 'active') else '' end
        as status,
      coalesce(seen.at, s.created_at) as since,
      case when s.created_at < ${at} then coalesce(before.to_status, 'active') else '' end
        as status_before
  ) was
  -- The state then, minus what the ledger has, which omits anything in the future.
  cross join lateral (
    select was.status = 'cancelled' and was.since >= ${since} and was.since < ${at}
        as cancelled,
      was.status in ('cancelled', 'failed') and was.since >= ${since} and was.since < ${at}
        and leaving.before >= ${since} as churned,
      was.status_before in ('cancelled', 'failed', 'expired') and leaving.before >= ${since}
        as gone,
      s.status not in ('active', 'paused') and leaving.last >= ${since}
        and leaving.last < ${at} as has_gone,
      (s.next_billing_at >= ${at} and s.next_billing_at < ${until})::int
        * ((was.status = 'active')::int - (s.status = 'active')::int) as renewal
  ) flags
  cross join lateral (values
    ('cancelled', was.since, cancelled::int, 0),
    ('churned', leaving.before, churned::int - (has_gone and s.status <> 'expired')::int, 0),
    ('expired', leaving.before, -(has_gone and s.status = 'expired')::int, 0),
    ('gone', leaving.before, gone::int - churned::int, 0),
    ('renewal', s.next_billing_at, renewal, renewal * s.current_price)
  ) v (fact, at, count, amount)`;
