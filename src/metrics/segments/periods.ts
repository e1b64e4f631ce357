import type { Sql, Transaction } from '../../store/database.ts';
import { type Selection, chosenOf } from './chosen.ts';

/**
 * The beginning of a statement: `chosen`, the subscriptions of a selection or all of a shop's; `held`, the same with
 * what holds among their customer's; and `periods`, each status of each and when it began and ended, from the records
 * alone. Of several changes at one instant, only what they come to.
 */
export function periodsOf(sql: Sql | Transaction, shopId: number, selection?: Selection) {
  return sql`
    chosen as (${chosenOf(sql, shopId, selection)}),
    held as materialized (
      select c.subscription_id, c.customer_id, c.created_at, c.current_price, c.unit, c.count,
        min(c.created_at) over (partition by c.customer_id) as customer_since,
        row_number() over (
          partition by c.customer_id order by c.created_at, c.subscription_id
        ) = 1 as is_first
      from chosen c
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
