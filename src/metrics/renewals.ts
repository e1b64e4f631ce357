import type { Sql } from '../store/database.ts';
import { boundsOf, day } from './bounds.ts';
import { endsOf, piecesOf } from './pieces.ts';

/** The renewals due on a UTC day. */
export interface RenewalsRow {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
  readonly renewals: number;
  /** Sum of the prices, a decimal. */
  readonly value: string;
}

/**
 * Renewals of active subscriptions from `now` on, by UTC day; days without renewals have no row. As
 * in the summary, overdue renewals are not included, and a status dated after `now` does not count
 * yet. The cost does not grow with the shop.
 * @param days in total, including today; at least 3
 * @param now epoch milliseconds
 */
export async function listRenewals(
  sql: Sql,
  shopId: number,
  days: number,
  now: number,
): Promise<RenewalsRow[]> {
  const end = (Math.floor(now / day) + days) * day;
  const [at, until] = [new Date(now).toISOString(), new Date(end).toISOString()];
  const next = boundsOf(now, end);
  return sql<RenewalsRow[]>`
    with kept as materialized (
      select coalesce(max(hours_since), 'infinity') as since from metric_shops
      where shop_id = ${shopId}
    ),
    next_ends as materialized (${endsOf(sql, next)}),
    changing as (
      (
        select subscription_id from status_events
        where shop_id = ${shopId} and at > ${at} order by at offset 0
      )
      union
      (
        select subscription_id from subscriptions
        where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
      )
    ),
    renewing as (
      select l.* from (${piecesOf(sql, next)}) piece
      cross join lateral (
        select bucket as at, count, amount from metric_ledger
        where shop_id = ${shopId} and grain = piece.grain
          and bucket >= piece.since and bucket < piece.until and fact = 'renewal'
        offset 0
      ) l
      union all
      select s.next_billing_at, 1, s.current_price from next_ends e
      cross join lateral (
        select next_billing_at, current_price from subscriptions
        where shop_id = ${shopId} and status = 'active'
          and next_billing_at >= e.since and next_billing_at < e.until
        order by next_billing_at offset 0
      ) s
      union all
      -- The ledger counts subscriptions by their final status.
      select s.next_billing_at, s.sign, s.sign * s.current_price
      from changing c
      cross join lateral (
        select next_billing_at, current_price,
          (created_at <= ${at} and coalesce(seen.to_status, 'active') = 'active')::int
            - (status = 'active')::int as sign
        from subscriptions
        left join lateral (
          select to_status from status_events
          where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= ${at}
          order by position desc limit 1
        ) seen on true
        where shop_id = ${shopId}
          and subscription_id between c.subscription_id and c.subscription_id
          and next_billing_at >= ${at} and next_billing_at < ${until}
        order by subscription_id limit 1
      ) s
    )
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day,
      sum(count)::bigint as renewals, sum(amount) as value
    from renewing
    group by metric_day(at)
    having sum(count) <> 0
    order by 1`;
}
