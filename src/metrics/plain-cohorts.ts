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
          || coalesce(s.own_interval_count, p.interval_count) as billed
      from (
        select * from subscriptions
        where shop_id = ${shopId} and plan_id between ${from} and ${to} order by plan_id offset 0
      ) s
      cross join lateral (
        select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
      ) p
      where s.created_at < ${new Date(options.now).toISOString()}
    ),
    members as materialized (
      select customer_id, to_char(min(created_at) at time zone 'UTC', 'YYYY-MM') as cohort
      from held group by customer_id
    ),
    steps as (
      select subscription_id, 'active' as status, created_at as since, -1 as position from held
      union all
      select e.subscription_id, e.to_status, e.at, e.position
      from held h
      cross join lateral (
        select * from status_events where shop_id = ${shopId} and subscription_id = h.subscription_id
        order by position offset 0
      ) e
    ),
    periods as (
      select subscription_id, status, since,
        lead(since, 1, 'infinity') over (partition by subscription_id order by position) as until
      from steps
    ),
    -- Of all cohorts, those asked for; and who of them was live at the end of each month.
    found as materialized (
      select c.* from members c where c.cohort >= (select min(month) from months)
    ),
    live as materialized (
      select f.cohort, m.month, h.customer_id, h.billed, h.current_price,
        p.status = 'active' as is_active
      from periods p
      join months m on m.ends_at > p.since and m.ends_at <= p.until
      join held h on h.subscription_id = p.subscription_id
      join found f on f.customer_id = h.customer_id
      where p.status in ('active', 'paused')
    )
    select cohort, cohort as month, 'customers' as fact, count(*) as count, 0::numeric as amount
    from found group by cohort
    union all
    select cohort, month, 'retained', count(distinct customer_id), 0
    from live group by cohort, month
    union all
    select cohort, month, billed, count(*), sum(current_price)
    from live where is_active group by cohort, month, billed`;
}
