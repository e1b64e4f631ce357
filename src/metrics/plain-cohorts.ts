import type { Sql, Transaction } from '../store/database.ts';
import { type CohortOptions, type CohortRow, listMonths } from './cohort-rows.ts';

/**
 * What holds for each cohort at the end of each month, following the definitions directly: each subscription's
 * status at that instant, from the records alone, so the cost grows with the shop, or with the plan.
 * @param options.planId if only this plan's subscriptions are to exist
 */
export function cohortsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { planId, ...options }: CohortOptions & { readonly planId?: number },
) {
  const months = listMonths(options);
  const list = (field: 'month' | 'end') => `{${months.map((each) => each[field]).join(',')}}`;
  const [from, to] = planId === undefined ? [0, Number.MAX_SAFE_INTEGER] : [planId, planId];
  return sql<CohortRow[]>`
    with months as materialized (
      select * from unnest(${list('month')}::text[], ${list('end')}::timestamptz[]) m (month, ends_at)
    ),
    held as materialized (
      select s.subscription_id, s.customer_id, s.created_at, s.current_price,
        coalesce(s.own_interval_unit, p.interval_unit) || ' '
          || coalesce(s.own_interval_count, p.interval_count) as billed,
        to_char(min(s.created_at) over (partition by s.customer_id) at time zone 'UTC', 'YYYY-MM')
          as cohort
      from (
        select * from subscriptions
        where shop_id = ${shopId} and plan_id between ${from} and ${to} order by plan_id offset 0
      ) s
      cross join lateral (
        select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
      ) p
      where s.created_at < ${new Date(options.now).toISOString()}
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
    periods as (
      select s.*,
        lead(s.since, 1, 'infinity') over (partition by s.subscription_id order by s.position) as until
      from steps s
    ),
    -- Who was live at the end of each month.
    live as materialized (
      select p.cohort, m.month, p.customer_id, p.billed, p.current_price,
        p.status = 'active' as is_active
      from periods p
      join months m on m.ends_at > p.since and m.ends_at <= p.until
      where p.status in ('active', 'paused') and p.cohort >= (select min(month) from months)
    )
    select cohort, cohort as month, 'customers' as fact, count(distinct customer_id) as count,
      0::numeric as amount
    from held where cohort >= (select min(month) from months) group by cohort
    union all
    select cohort, month, 'retained', count(distinct customer_id), 0
    from live group by cohort, month
    union all
    select cohort, month, billed, count(*), sum(current_price)
    from live where is_active group by cohort, month, billed`;
}
