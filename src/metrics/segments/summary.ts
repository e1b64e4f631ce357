import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, day, lastBefore, monthBefore } from '../bounds.ts';
import type { MetricsRow } from '../figures.ts';
import { type RecordTable, type Selection, chosenOf, recordsOf } from './subscriptions.ts';
import { priceDecimals } from '../facts.ts';
import { type DayRow, type EventsOfDay, type Shift, sumsByDay, toDays } from '../history.ts';
import { periodsOf } from './periods.ts';

/**
 * The same as summariseMetrics, following the definitions directly: reads all records of the shop, or of a selection
 * of its subscriptions, so the cost grows with them. Of the precomputed tables, only that of dunning cases.
 * @param now epoch milliseconds
 * @param period any that ends at `now` or earlier. Renewals are of the 7 × 24 h after now, and undefined if it ends
 * earlier.
 */
export async function summariseFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  period: Period = monthBefore(now),
  selection?: Selection,
): Promise<MetricsRow> {
  const isCurrent = period.until === now;
  const [since, until] = [iso(period.from), iso(now + 7 * day)];
  const at = isCurrent ? iso(now) : lastBefore(period.until);
  const records = (table: RecordTable) => recordsOf(sql, shopId, table, [since, at], selection);

  const [row] = await sql<MetricsRow[]>`
    with chosen as materialized (${chosenOf(sql, shopId, selection)}),
    instants as materialized (
      select ${at}::timestamptz as now, ${since}::timestamptz as since,
        ${until}::timestamptz as until
    ),
    -- Each subscription at the instant: its stored status, unless that is dated in the future.
    seen as materialized (
      select s.subscription_id, s.customer_id, s.current_price, s.created_at, s.next_billing_at,
        s.status_since as changed_at, s.unit, s.count,
        case when s.status_since <= i.now then s.status
          else coalesce(past.to_status, 'active') end as status,
        case when s.status_since <= i.now then s.status_since
          else coalesce(past.at, s.created_at) end as since
      from instants i
      join chosen s on s.created_at <= i.now
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
      where case
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
      select bool_or(status = 'active') as active, bool_or(status = 'paused') as paused,
        min(created_at) as first_at
      from seen group by customer_id
    ),
    cases as (${storedCases(sql, shopId, at)}),
    by_interval as (
      select unit, count, count(*) as subscriptions, sum(current_price) as sum
      from seen where status = 'active' group by unit, count
    )
    select customers.*, worth.*, renewals.*, churn.*, cancelled.*, paid.*, refunded.*, dunning.*,
      sessions.*
    from instants i,
    lateral (
      select count(*) filter (where active) as "activeSubscribers",
        count(*) filter (where paused and not active) as "pausedSubscribers",
        count(*) filter (where first_at >= i.since and first_at < i.now) as "newSubscribers"
      from subscribers
    ) customers,
    lateral (
      select coalesce(sum(subscriptions), 0)::bigint as "activeSubscriptions",
        coalesce(json_agg(json_build_object('unit', unit, 'count', count, 'sum', sum::text)), '[]')
          as "activeValue"
      from by_interval
    ) worth,
    lateral (
      select count(*) as "upcomingRenewals",
        coalesce(sum(current_price), 0) as "upcomingRenewalsValue"
      from seen
      where status = 'active' and next_billing_at >= i.now and next_billing_at < i.until
    ) renewals,
    lateral (
      select count(*) as "atRisk", count(*) filter (
          where status in ('cancelled', 'failed') and since >= i.since and since < i.now
        ) as churned
      from at_risk
    ) churn,
    lateral (
      select count(*) as cancelled from seen
      where status = 'cancelled' and since >= i.since and since < i.now
    ) cancelled,
    lateral (
      select coalesce(sum(amount) filter (where status = 'succeeded'), 0) as paid,
        count(distinct (subscription_id, cycle)) filter (
          where status = 'failed' and failure_kind is distinct from 'inventory'
        ) as "failedPayments"
      from (${records('payments')}) payments
    ) paid,
    lateral (
      select coalesce(sum(amount), 0) as refunded
      from (${records('refunds')}) refunds
    ) refunded,
    lateral (
      select count(*) filter (where closed_at is null) as "dunningActive",
        count(*) filter (
          where closed_at >= i.since and closed_at < i.now and result = 'recovered'
        ) as "dunningRecovered",
        count(*) filter (where closed_at >= i.since and closed_at < i.now) as "dunningClosed"
      from cases
    ) dunning,
    lateral (
      select count(*) as sessions, count(*) filter (where outcome = 'saved') as "sessionsSaved",
        count(outcome) as "sessionsEnded"
      from (${records('cancellation_sessions')}) sessions
    ) sessions`;
  const past = { upcomingRenewals: undefined, upcomingRenewalsValue: undefined };
  return { ...(row as MetricsRow), ...(isCurrent ? {} : past) };
}

const iso = (at: number) => new Date(at).toISOString();

/**
 * The cases of the subscriptions `chosen`, as they are stored; without what is dated later.
 * @param at ISO 8601
 */
function storedCases(sql: Sql | Transaction, shopId: number, at: string) {
  return sql`
    select d.subscription_id, d.result, case when d.closed_at <= ${at} then d.closed_at end as closed_at
    from chosen c
    cross join lateral (
      select * from dunning_cases
      where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
      order by subscription_id, position offset 0
    ) d
    where d.opened_at <= ${at}`;
}

/** The same as listDays, from the records of a selection. */
export async function daysFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  selection?: Selection,
): Promise<DayRow[]> {
  const events = await listEvents(sql, shopId, period, selection);
  return toDays(period, events, await listShifts(sql, shopId, period, selection));
}

function listEvents(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection?: Selection,
): Promise<EventsOfDay[]> {
  const [since, end] = [iso(from), iso(until)];
  const records = (table: RecordTable) => recordsOf(sql, shopId, table, [since, end], selection);
  return sql<EventsOfDay[]>`
    with ${periodsOf(sql, shopId, selection)},
    facts as (
      select created_at as at, 'new_subscriber' as fact, 1 as count, 0::numeric as amount
      from held where is_first
      union all
      -- What holds until the end of the period.
      select since, 'cancelled', 1, 0 from periods
      where status = 'cancelled' and since < ${end} and until >= ${end}
      union all
      select processed_at, 'paid', 1, amount from (${records('payments')}) payments
      where status = 'succeeded'
      union all
      select refunded_at, 'refunded', 1, amount from (${records('refunds')}) refunds
      union all
      select max(processed_at), 'cycle_failed', 1, 0 from (${records('payments')}) payments
      where status = 'failed' and failure_kind is distinct from 'inventory'
      group by subscription_id, cycle
      union all
      select closed_at, 'dunning_' || result, 1, 0 from (${storedCases(sql, shopId, end)}) cases
      union all
      select created_at, 'session_' || coalesce(outcome, 'open'), 1, 0
      from (${records('cancellation_sessions')}) sessions
    )
    ${sumsByDay(sql)}
    from facts where at >= ${since} and at < ${end}
    group by metric_day(at)`;
}

function listShifts(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection?: Selection,
): Promise<Shift[]> {
  const firstEnd = iso((Math.floor(from / day) + 1) * day);
  return sql<Shift[]>`
    with ${periodsOf(sql, shopId, selection)},
    moves as (
      select customer_id, unit || ' ' || count as interval, metric_day(v.at) as day, v.sign,
        v.sign * current_price as amount
      from periods cross join lateral (values (since, 1), (until, -1)) v (at, sign)
      where status = 'active' and v.at < ${iso(until)}
    ),
    customers as (
      select day, sum(sign) as change,
        sum(sum(sign)) over (partition by customer_id order by day) as subscriptions
      from moves group by customer_id, day
    ),
    shifts as (
      select interval, day, sum(sign) as count, sum(amount) as amount from moves group by interval, day
      union all
      select null, day, sum((subscriptions > 0)::int - (subscriptions - change > 0)::int), 0
      from customers group by day
    )
    select (date_part('epoch', day) * 1000)::bigint as day, interval, sum(count)::bigint as count,
      round(sum(amount) * 10::numeric ^ ${priceDecimals}::int)::text as amount
    from (
      select null::timestamptz as day, interval, count, amount from shifts
      union all
      select day, interval, count, amount from shifts where day >= ${firstEnd}
    ) all_shifts
    group by day, interval
    order by day desc nulls first`;
}
