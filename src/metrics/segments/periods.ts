import type { Period } from '../bounds.ts';
import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type SegmentAt, subscriptionsOf } from './subscriptions.ts';
import type { Ratio } from '../../money.ts';
import { type ActiveValue, monthlyValue } from '../../mrr.ts';
import { type MovementValues, lineNames } from '../movements.ts';
import { type CohortOptions, type CohortRow, listMonths } from '../cohorts.ts';

/**
 * The beginning of a statement: `in_segment`, the subscriptions of a segment or all of a shop's; `held`, the same with
 * what holds among their customer's; and `periods`, each status of each and when it began and ended, from the records
 * alone. Of several changes at one instant, only what they come to.
 */
export function periodsOf(sql: Sql | Transaction, shopId: number, segment?: SegmentAt) {
  return sql`
    in_segment as (${subscriptionsOf(sql, shopId, segment)}),
    held as materialized (
      select c.subscription_id, c.customer_id, c.created_at, c.current_price, c.unit, c.count,
        min(c.created_at) over (partition by c.customer_id) as customer_since,
        row_number() over (
          partition by c.customer_id order by c.created_at, c.subscription_id
        ) = 1 as is_first
      from in_segment c
    ),
    -- Each row has all that is needed: the planner knows nothing of these parts, and would join them row by row.
    steps as (
      select h.*, 'active' as status, h.created_at as since, -1 as position from held h
      union all
      select h.*, e.to_status, e.at, e.position
      from held h
      cross join lateral (
        select * from status_events where shop_id = ${shopId} and subscription_id = h.subscription_id
        order by position offset 0
      ) e
    ),
    dated as (
      select s.*,
        lead(s.since, 1, 'infinity') over (partition by s.subscription_id order by s.position) as until
      from steps s
    ),
    periods as materialized (
      select d.*, lag(d.status, 1, '') over (partition by d.subscription_id order by d.position) as was
      from dated d where d.until > d.since
    )`;
}

interface Sum extends ActiveValue {
  readonly part: keyof MovementValues;
}

/**
 * The same as summariseMovements, from the records: each subscription's status before and after
 * each instant at which it changed.
 * @param segment if only its subscriptions are to exist
 */
export async function movementsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment?: SegmentAt,
): Promise<MovementValues> {
  const sums = await sql<Sum[]>`
    with ${periodsOf(sql, shopId, segment)},
    parts as (
      select p.unit, p.count, p.current_price, v.part
      from periods p
      join (values ('opening', ${isoTime(from)}::timestamptz), ('closing', ${isoTime(until)})) v (part, at)
        on v.at > p.since and v.at <= p.until
      where p.status = 'active'
      union all
      select p.unit, p.count, p.current_price,
        case
          when p.status <> 'active' then p.status
          when p.was = 'paused' then 'resumed'
          when p.was <> '' then 'reactivated'
          when p.is_first then 'new'
          else 'added'
        end
      from periods p
      where p.since >= ${isoTime(from)} and p.since < ${isoTime(until)}
        and (p.status = 'active') <> (p.was = 'active')
    )
    select part, unit, count, sum(current_price) as sum from parts group by part, unit, count`;
  const values = lineNames.map((name) => [
    name,
    monthlyValue(sums.filter(({ part }) => part === name)),
  ]);
  return Object.fromEntries(values) as Record<keyof MovementValues, Ratio>;
}

/**
 * What holds for each cohort at the end of each month, from the records: each subscription's
 * status at that instant, so the cost grows with the shop, or with the segment.
 * @param segment if only its subscriptions are to exist
 */
export function cohortsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  options: CohortOptions,
  segment?: SegmentAt,
) {
  const months = listMonths(options);
  const list = (field: 'month' | 'end') => `{${months.map((each) => each[field]).join(',')}}`;
  return sql<CohortRow[]>`
    with ${periodsOf(sql, shopId, segment)},
    months as materialized (
      select * from unnest(${list('month')}::text[], ${list('end')}::timestamptz[]) m (month, ends_at)
    ),
    seen as materialized (
      select p.*, p.unit || ' ' || p.count as billed,
        to_char(p.customer_since at time zone 'UTC', 'YYYY-MM') as cohort
      from periods p
      where p.created_at < ${isoTime(options.now)}
    ),
    -- Who was live at the end of each month.
    live as materialized (
      select s.cohort, m.month, s.customer_id, s.billed, s.current_price,
        s.status = 'active' as is_active
      from seen s
      join months m on m.ends_at > s.since and m.ends_at <= s.until
      where s.status in ('active', 'paused') and s.cohort >= (select min(month) from months)
    )
    select cohort, cohort as month, 'customers' as fact, count(distinct customer_id) as count,
      0::numeric as amount
    from seen where cohort >= (select min(month) from months) group by cohort
    union all
    select cohort, month, 'retained', count(distinct customer_id), 0
    from live group by cohort, month
    union all
    select cohort, month, billed, count(*), sum(current_price)
    from live where is_active group by cohort, month, billed`;
}
