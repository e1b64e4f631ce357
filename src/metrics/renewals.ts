import type { Sql, Transaction } from '../store/database.ts';
import { type Period, boundsOf } from './bounds.ts';
import { endsOf, piecesOf } from './pieces.ts';

/**
 * A part of a statement: the renewals of a coming window, which begins now. Reads the part `kept`. The ledger and
 * the index have them by the final status of subscriptions, so those that change later, which are very few, are
 * followed. Each is found by its last event, because removing duplicates would make the planner reserve too much
 * memory.
 */
export function renewing(sql: Sql | Transaction, shopId: number, window: Period) {
  const bounds = boundsOf(window.from, window.until);
  const [at, until] = [window.from, window.until].map((time) => new Date(time).toISOString()) as [
    string,
    string,
  ];
  return sql`
    with ends as materialized (${endsOf(sql, bounds)}),
    changing as (
      select e.subscription_id
      from (
        select subscription_id, position from status_events
        where shop_id = ${shopId} and at > ${at} order by at offset 0
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
        where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
      ) s
      left join lateral (
        select true as is_followed from status_events
        where shop_id = ${shopId} and subscription_id = s.subscription_id
        order by position limit 1
      ) later on true
      where is_followed is null
    )
    select l.* from (${piecesOf(sql, bounds)}) piece
    cross join lateral (
      select bucket as at, count, amount from metric_ledger
      where shop_id = ${shopId} and grain = piece.grain
        and bucket >= piece.since and bucket < piece.until and fact = 'renewal'
      offset 0
    ) l
    union all
    select s.next_billing_at, 1, s.current_price from ends e
    cross join lateral (
      select next_billing_at, current_price from subscriptions
      where shop_id = ${shopId} and status = 'active'
        and next_billing_at >= e.since and next_billing_at < e.until
      order by next_billing_at offset 0
    ) s
    union all
    select s.next_billing_at, s.sign, s.sign * s.current_price
    from changing c
    cross join lateral (${renewalChange(sql, shopId, at, until)}) s`;
}

/** The subscriptions that begin or change after an instant: what is stored of them is not yet so then. */
export const changingAfter = (sql: Sql | Transaction, shopId: number, at: string) => sql`
  (
    select subscription_id from status_events
    where shop_id = ${shopId} and at > ${at} order by at offset 0
  )
  union
  (
    select subscription_id from subscriptions
    where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
  )`;

/**
 * How the subscription of `changing` called c differs from what the ledger has of its renewal in an interval: it counts
 * subscriptions by their final status.
 */
export const renewalChange = (
  sql: Sql | Transaction,
  shopId: number,
  at: string,
  until: string,
) => sql`
  select next_billing_at, plan_id, own_interval_unit, own_interval_count, current_price,
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
  order by subscription_id limit 1`;
