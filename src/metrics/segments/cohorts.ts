import type { Sql, Transaction } from '../../store/database.ts';
import { type CohortOptions, type CohortRow, listMonths } from '../cohort-rows.ts';
import type { Selection } from './chosen.ts';
import { periodsOf } from './periods.ts';

/**
 * What holds for each cohort at the end of each month, following the definitions directly: each subscription's
 * status at that instant, from the records alone, so the cost grows with the shop, or with the selection.
 * @param selection if only its subscriptions are to exist
 */
export function cohortsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  options: CohortOptions,
  selection?: Selection,
) {
  const months = listMonths(options);
  const list = (field: 'month' | 'end') => `{${months.map((each) => each[field]).join(',')}}`;
  return sql<CohortRow[]>`
    with ${periodsOf(sql, shopId, selection)},
    months as materialized (
      select * from unnest(${list('month')}::text[], ${list('end')}::timestamptz[]) m (month, ends_at)
    ),
    seen as materialized (
      select p.*, p.unit || ' ' || p.count as billed,
        to_char(p.customer_since at time zone 'UTC', 'YYYY-MM') as cohort
      from periods p
      where p.created_at < ${new Date(options.now).toISOString()}
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
