import type { Sql, Transaction } from '../../store/database.ts';
import type { Window } from '../churn.ts';
import { type Kept, type KeptRow, keptOf } from './kept.ts';

/** The same as summariseKept, following the definition directly, from the records alone. */
export async function keptFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
): Promise<Kept> {
  return keptOf(
    await sql<KeptRow[]>`
    with instants as materialized (
      select ${iso(from)}::timestamptz as since, ${iso(until)}::timestamptz as until,
        ${iso(now)}::timestamptz as now
    ),
    saved as (
      select c.subscription_id, max(c.created_at) as at
      from instants i
      join cancellation_sessions c
        on c.shop_id = ${shopId} and c.outcome = 'saved' and c.created_at <= i.now
      group by c.subscription_id
    )
    select coalesce(s.own_interval_unit, p.interval_unit) as unit,
      coalesce(s.own_interval_count, p.interval_count) as count,
      count(*) as subscriptions, sum(s.current_price) as sum
    from instants i
    join saved on saved.at >= i.since and saved.at < i.until
    join subscriptions s on s.shop_id = ${shopId} and s.subscription_id = saved.subscription_id
      and s.created_at <= i.now
    join plans p on p.shop_id = ${shopId} and p.plan_id = s.plan_id
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
      order by e.position desc limit 1
    ) seen on true
    where coalesce(seen.to_status, 'active') = 'active'
    group by 1, 2`,
  );
}

const iso = (at: number) => new Date(at).toISOString();
