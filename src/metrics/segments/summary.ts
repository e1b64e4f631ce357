import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, day, lastBefore, monthBefore, type Interval } from '../bounds.ts';
import { type RecordTable, type SegmentAt, subscriptionsOf, recordsOf } from './subscriptions.ts';
import { type MetricsRow, type FactSum, rowOf } from '../facts.ts';
import { type DayRow, type DaySums, type Shift, sumsByDay, toDays } from '../history.ts';
import { inUnits } from '../ledger.ts';
import { periodsOf } from './periods.ts';

/**
 * The same as summariseMetrics, from the records of a segment or of all subscriptions, so the cost grows with them.
 * Dunning cases are read as they are stored.
 * @param now epoch milliseconds
 * @param period any that ends at `now` or earlier. Renewals are of the 7 × 24 h after now, and undefined if it ends
 * earlier.
 */
export async function summariseFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  period: Period = monthBefore(now),
  segment?: SegmentAt,
): Promise<MetricsRow> {
  const isCurrent = period.until === now;
  const [since, until] = [isoTime(period.from), isoTime(now + 7 * day)];
  const at = isCurrent ? isoTime(now) : lastBefore(period.until);
  const sums = await sql<FactSum[]>`
    with in_segment as materialized (${subscriptionsOf(sql, shopId, segment)}),
    instants as materialized (
      select ${at}::timestamptz as now, ${since}::timestamptz as since,
        ${until}::timestamptz as until
    ),
    -- Each subscription at the instant: its stored status, unless that is dated in the future.
    seen as materialized (
      select s.subscription_id, s.customer_id, s.current_price, s.other_intervals, s.created_at,
        s.next_billing_at, s.status_since as changed_at, s.unit || ' ' || s.count as billed, s.billed_by_plan,
        s.trial_ends_at > i.now as is_in_trial,
        case when s.past_values is not null then amounts_at(s.past_values, i.now) end as amounts,
        case when coalesce(s.status_since, '-infinity') <= i.now then s.status
          else coalesce(past.to_status, 'active') end as status,
        case when coalesce(s.status_since, '-infinity') <= i.now then s.status_since
          else coalesce(past.at, s.created_at) end as since
      from instants i
      join in_segment s on s.created_at <= i.now
      left join lateral (
        select e.to_status, e.at from status_events e
        where s.status_since > i.now
          and e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
        order by e.position desc limit 1
      ) past on true
    ),
    -- Live just before the window, or from some point within it.
    at_risk as (
      select v.status, v.since
      from instants i, seen v
      where v.changed_at is not null and case
        when v.changed_at < i.since then v.status in ('active', 'paused')
        when v.created_at >= i.since then v.created_at < i.now
        else coalesce((
            select e.to_status from status_events e
            where e.shop_id = ${shopId} and e.subscription_id = v.subscription_id
              and e.at < i.since
            order by e.position desc limit 1
          ), 'active') in ('active', 'paused')
          or exists (
            select from (
              select * from status_events
              where shop_id = ${shopId} and subscription_id = v.subscription_id
              order by position offset 0
            ) e
            where e.at >= i.since and e.at < i.now
              and e.to_status in ('active', 'paused') and e.from_status not in ('active', 'paused')
          )
      end
    ),
    subscribers as (
      select bool_or(status = 'active') as active,
        bool_or(status = 'paused' and changed_at is not null) as paused, bool_or(status = 'paused') as undated,
        min(created_at) as first_at
      from seen group by customer_id
    ),
    ${happenedIn(sql, shopId, [since, at], segment)}
    select v.fact, v.count, 0::numeric as amount
    from (
      select count(*) filter (where active) as active,
        count(*) filter (where paused and not active) as paused,
        count(*) filter (where undated and not paused and not active) as undated,
        count(*) filter (where first_at >= i.since and first_at < i.now) as new
      from instants i, subscribers
    ) customers
    cross join lateral (values ('subscriber', active), ('paused_subscriber', paused), ('paused_undated', undated),
      ('new_subscriber', new)) v (fact, count)
    union all
    select 'active ' || v.billed_at, sum(v.subscriptions)::bigint, sum(v.price_then)
    from seen s cross join lateral prices_by_interval(s.current_price, s.other_intervals, s.billed, s.amounts, s.billed_by_plan) v
    where s.status = 'active' and s.is_in_trial is not true group by v.billed_at
    union all
    select 'trial', count(*), coalesce(sum(case when amounts is null then current_price else price_in(amounts, true) end), 0)
    from seen where status = 'active' and is_in_trial
    union all
    select case when status in ('active', 'paused') then 'live'
        when status in ('cancelled', 'failed') and r.since >= i.since and r.since < i.now then 'churned'
        else 'gone' end,
      count(*), 0
    from instants i, at_risk r group by 1
    union all
    select 'cancelled', count(*), 0 from instants i, seen v
    where status = 'cancelled' and v.since >= i.since and v.since < i.now
    union all
    select 'renewal', count(*), coalesce(sum(price_at(current_price, other_intervals, billed)), 0)
    from instants i, seen
    where status = 'active' and next_billing_at >= i.now and next_billing_at < i.until
    union all
    select 'dunning_open', count(*), 0 from cases where closed_at is null
    union all
    select fact, count(*), sum(amount) from happened group by fact`;
  return rowOf(sums, isCurrent);
}

/**
 * Parts of a statement: `cases`, the dunning cases of the subscriptions `in_segment` as they are stored, without what is
 * dated later; and `happened`, the facts in an interval that are rows of records, or cases that closed. They are said
 * again, apart from `rowFacts`, so that they can verify what the ledger has.
 */
function happenedIn(
  sql: Sql | Transaction,
  shopId: number,
  [since, until]: Interval,
  segment: SegmentAt | undefined,
) {
  const records = (table: RecordTable) => recordsOf(sql, shopId, table, [since, until], segment);
  return sql`
    cases as (
      select d.result, case when d.closed_at <= ${until} then d.closed_at end as closed_at
      from in_segment c
      cross join lateral (
        select * from dunning_cases
        where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
        order by subscription_id, position offset 0
      ) d
      where d.opened_at <= ${until}
    ),
    attempts as materialized (
      select subscription_id, cycle, status, failure_kind, processed_at, amount
      from (${records('payments')}) payments
    ),
    happened as (
      select processed_at as at, 'paid' as fact, amount from attempts where status = 'succeeded'
      union all
      select max(processed_at), 'cycle_failed', 0 from attempts
      where status = 'failed' and failure_kind is distinct from 'inventory'
      group by subscription_id, cycle
      union all
      select refunded_at, 'refunded', amount from (${records('refunds')}) refunds
      union all
      select created_at, 'session_' || coalesce(outcome, 'open'), 0
      from (${records('cancellation_sessions')}) sessions
      union all
      select closed_at, 'dunning_' || result, 0 from cases
      where closed_at >= ${since} and closed_at < ${until}
    )`;
}

/** The same as listDays, from the records of a segment. */
export async function daysFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  segment?: SegmentAt,
): Promise<DayRow[]> {
  const events = await listEvents(sql, shopId, period, segment);
  return toDays(period, events, await listShifts(sql, shopId, period, segment));
}

function listEvents(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment?: SegmentAt,
): Promise<DaySums[]> {
  return sql<DaySums[]>`
    with ${periodsOf(sql, shopId, segment)},
    ${happenedIn(sql, shopId, [isoTime(from), isoTime(until)], segment)},
    facts as (
      select created_at as at, 'new_subscriber' as fact, 1 as count, 0::numeric as amount
      from held where is_first and created_at >= ${isoTime(from)} and created_at < ${isoTime(until)}
      union all
      -- What holds until the end of the period.
      select since, 'cancelled', 1, 0 from periods
      where status = 'cancelled' and since >= ${isoTime(from)} and since < ${isoTime(until)}
        and until >= ${isoTime(until)}
      union all
      select at, fact, 1, amount from happened
    )
    ${sumsByDay(sql)} from facts group by metric_day(at)`;
}

function listShifts(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment?: SegmentAt,
): Promise<Shift[]> {
  const firstEnd = isoTime((Math.floor(from / day) + 1) * day);
  return sql<Shift[]>`
    with ${periodsOf(sql, shopId, segment)},
    moves as (
      select customer_id, status, current_price, other_intervals, amounts, unit || ' ' || count as billed, billed_by_plan,
        metric_day(v.at) as day, v.sign
      from periods cross join lateral (values (since, 1), (until, -1)) v (at, sign)
      where status in ('active', 'trial') and v.at < ${isoTime(until)}
    ),
    customers as (
      select day, sum(sign) as change,
        sum(sum(sign)) over (partition by customer_id order by day) as subscriptions
      from moves group by customer_id, day
    ),
    shifts as (
      select v.billed_at as interval, day, sum(sign * v.subscriptions) as count, sum(sign * v.price_then) as amount
      from moves cross join lateral prices_by_interval(current_price, other_intervals, billed, amounts, billed_by_plan) v
      where status = 'active' group by v.billed_at, day
      union all
      select null, day, sum((subscriptions > 0)::int - (subscriptions - change > 0)::int), 0
      from customers group by day
    )
    select (date_part('epoch', day) * 1000)::bigint as day, interval, sum(count)::bigint as count,
      ${inUnits(sql, 'sum(amount)')} as amount
    from (
      select null::timestamptz as day, interval, count, amount from shifts
      union all
      select day, interval, count, amount from shifts where day >= ${firstEnd}
    ) all_shifts
    group by day, interval
    order by day desc nulls first`;
}
