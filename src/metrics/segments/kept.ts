import type { Sql, Transaction } from '../../store/database.ts';
import type { Window } from '../churn.ts';
import { type Selection, chosenOf, recordsOf } from './chosen.ts';
import { type Kept, type KeptRow, keptOf } from '../cancel-flow/kept.ts';

/** The same as summariseKept, following the definition directly, from the records alone: the shop's, or a selection's. */
export async function keptFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
  selection?: Selection,
): Promise<Kept> {
  const sessions = recordsOf(
    sql,
    shopId,
    'cancellation_sessions',
    ['-infinity', iso(now + 1)],
    selection,
  );
  return keptOf(
    await sql<KeptRow[]>`
    with chosen as (${chosenOf(sql, shopId, selection)}),
    instants as materialized (
      select ${iso(from)}::timestamptz as since, ${iso(until)}::timestamptz as until,
        ${iso(now)}::timestamptz as now
    ),
    saved as (
      select c.subscription_id, max(c.created_at) as at
      from (${sessions}) c
      where c.outcome = 'saved'
      group by c.subscription_id
    )
    select coalesce(s.own_interval_unit, p.interval_unit) as unit,
      coalesce(s.own_interval_count, p.interval_count) as count,
      count(*) as subscriptions, sum(s.current_price) as sum
    from instants i
    join saved on saved.at >= i.since and saved.at < i.until
    cross join lateral (
      select * from subscriptions
      where shop_id = ${shopId}
        and subscription_id between saved.subscription_id and saved.subscription_id
      order by subscription_id limit 1
    ) s
    cross join lateral (
      select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
      order by e.position desc limit 1
    ) seen on true
    where s.created_at <= i.now and coalesce(seen.to_status, 'active') = 'active'
    group by 1, 2`,
  );
}

const iso = (at: number) => new Date(at).toISOString();
