import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, day } from '../bounds.ts';
import { priceDecimals } from '../facts.ts';
import { type DayRow, type EventsOfDay, type Shift, sumsByDay, toDays } from '../history-rows.ts';
import { storedCases } from './summary.ts';
import { type RecordTable, type Selection, recordsOf } from './chosen.ts';
import { periodsOf } from './periods.ts';

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

const iso = (at: number) => new Date(at).toISOString();

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
