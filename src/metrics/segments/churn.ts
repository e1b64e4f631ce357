import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import {
  type BandRow,
  type ChurnDay,
  type ChurnGroup,
  type ChurnedPage,
  type ChurnedRow,
  type Window,
  bandOf,
  churnedPage,
  churnedRows,
  groupOf,
} from '../churn.ts';
import { lookup } from '../../store/lookup.ts';
import { itsPlan, worthUntil } from '../../store/records/subscriptions.ts';
import { type SegmentAt, subscriptionsOf } from './subscriptions.ts';

/** The same as listChurnDays, from the records of a segment or of all subscriptions. */
export function churnDaysFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  segment?: SegmentAt,
): Promise<ChurnDay[]> {
  return sql<ChurnDay[]>`
    with ${leaversOf(sql, shopId, window, segment)}
    select (date_part('epoch', metric_day(left_at)) * 1000)::bigint as day,
      count(*) filter (where cause = 'cancelled') as cancelled,
      count(*) filter (where cause = 'failed') as failed
    from leavers group by metric_day(left_at) order by 1`;
}

/** The same as listChurnGroups, from the records of a segment or of all subscriptions. */
export async function churnGroupsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  segment?: SegmentAt,
): Promise<ChurnGroup[]> {
  const rows = await sql<BandRow[]>`
    with ${leaversOf(sql, shopId, window, segment)}
    select plan_id as "planId", cause, ${bandOf(sql)} as band, count(*) as count
    from leavers group by 1, 2, 3 order by 1, 2, 3`;
  return rows.map(groupOf);
}

/** The same as listChurned, from the records of a segment or of all subscriptions. */
export function churnedFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  page: ChurnedPage,
  segment?: SegmentAt,
): Promise<ChurnedRow[]> {
  const { matching, by } = churnedPage(sql, page);
  const left = sql`
    select * from (
      select l.*, ${worthUntil(sql, 'l.left_at')} as value from leavers l
      cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'l.subscription_id')} s ${itsPlan(sql, shopId)}
    ) l
    where ${matching} order by ${by()} limit ${page.limit}`;
  return sql<ChurnedRow[]>`
    with ${leaversOf(sql, shopId, window, segment)}
    ${churnedRows(sql, shopId, left, page, window.now)}`;
}

/** The beginning of a statement: `leavers`, the subscriptions that left in a window and had not come back by now. */
function leaversOf(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
  segment?: SegmentAt,
) {
  return sql`
    in_segment as (${subscriptionsOf(sql, shopId, segment)}),
    events as (
      select c.subscription_id, c.plan_id, c.created_at, e.position, e.at, e.to_status,
        last_value(e.to_status) over whole as last,
        max(e.position) filter (where e.to_status in ('active', 'paused')) over whole as live_at
      from in_segment c
      cross join lateral (
        select * from status_events where shop_id = ${shopId} and subscription_id = c.subscription_id
        order by position offset 0
      ) e
      -- Without a change since the start of the window, none can have left in it.
      where e.at <= ${isoTime(now)} and c.status_since >= ${isoTime(from)}
      window whole as (partition by c.subscription_id order by e.position
        rows between unbounded preceding and unbounded following)
    ),
    -- What followed the last time a subscription was live; its first event is when it left.
    ends as (
      select subscription_id, plan_id, created_at, min(at) as left_at,
        array_agg(to_status order by position) as statuses, array_agg(at order by position) as times
      from events
      where position > coalesce(live_at, -1) and last in ('cancelled', 'failed')
      group by subscription_id, plan_id, created_at
    ),
    leavers as (
      select e.*, case (
          select to_status from unnest(statuses, times) with ordinality s (to_status, at, number)
          where s.at = e.left_at order by number desc limit 1
        ) when 'failed' then 'failed' else 'cancelled' end as cause,
        floor(date_part('epoch', left_at - created_at) / 86400)::integer as age_days
      from ends e where left_at >= ${isoTime(from)} and left_at < ${isoTime(until)}
    )`;
}
