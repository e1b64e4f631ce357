import type { Sql, Transaction } from '../store/database.ts';
import { type Position, startOf } from '../store/records/paging.ts';
import { wholeDaysOf } from './bounds.ts';
import { intervalsOf } from './pieces.ts';

/** Why a subscription left: cancelled, or lost to failed payments. */
export type ChurnCause = 'cancelled' | 'failed';

/** How many subscriptions left for good on a UTC day. */
export interface ChurnDay extends Readonly<Record<ChurnCause, number>> {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
}

/** What a figure of the past is about. Epoch milliseconds; `until` is at most `now`. */
export interface Window {
  readonly from: number;
  /** Not included. */
  readonly until: number;
  /** Anything dated later is ignored. */
  readonly now: number;
}

const iso = (at: number) => new Date(at).toISOString();

/**
 * The subscriptions that left in a window and had not come back by now, by the UTC day on which they left; days
 * without any have no row. The cost grows with the number of days, and with the changes on the first and the last.
 */
export async function listChurnDays(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
): Promise<ChurnDay[]> {
  const { days, ends } = wholeDaysOf(from, until);
  const at = iso(now);
  return sql<ChurnDay[]>`
    with changing as (
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
    churned as (
      select bucket as at, count, 0 as failed from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact = 'churned'
      union all
      select bucket, 0, count from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact = 'churned_failed'
      union all
      select c.at, c.churned, c.churned_failed from (${intervalsOf(sql, ends)}) e
      cross join lateral (
        select at, churned, churned_failed from subscriber_changes
        where shop_id = ${shopId} and at >= e.since and at < e.until order by at offset 0
      ) c
      union all
      -- The ledger counts subscriptions by their final status: what holds now replaces it.
      select leaving.at, seen.sign, seen.sign * (after.to_status = 'failed')::int
      from changing c
      cross join (values (1, ${at}::timestamptz), (-1, 'infinity')) seen (sign, until)
      cross join lateral (
        select to_status from status_events
        where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= seen.until
        order by position desc limit 1
      ) last
      cross join lateral (
        select max(at) as at
        from (
          select * from status_events
          where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= seen.until
          order by position offset 0
        ) e
        where from_status in ('active', 'paused') and to_status not in ('active', 'paused')
      ) leaving
      cross join lateral (
        select to_status from (
          select * from status_events
          where shop_id = ${shopId} and subscription_id = c.subscription_id
          order by position desc offset 0
        ) e
        where at = leaving.at limit 1
      ) after
      where last.to_status in ('cancelled', 'failed')
        and leaving.at >= ${iso(from)} and leaving.at < ${iso(until)}
    )
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day,
      sum(count - failed)::bigint as cancelled, sum(failed)::bigint as failed
    from churned
    group by metric_day(at)
    having sum(count) <> 0
    order by 1`;
}

/** A subscription that left, and has not come back. */
export interface ChurnedRow {
  readonly subscriptionId: number;
  readonly customerId: number;
  readonly planId: number;
  readonly planName: string;
  /** Epoch milliseconds. */
  readonly leftAt: number;
  readonly cause: ChurnCause;
}

/**
 * The subscriptions that left in a window and had not come back by now: the last to leave first, then by id,
 * highest first. Reads as many entries of an index as there are rows, and those of subscriptions that came back.
 * @param page.after the last row of the page before: when it left, as `createdAt`, and its id
 */
export async function listChurned(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
  page: { readonly after: Position | undefined; readonly limit: number },
): Promise<ChurnedRow[]> {
  const after = startOf(page.after);
  const at = iso(now);
  return sql<ChurnedRow[]>`
    select l.subscription_id as "subscriptionId", s.customer_id as "customerId",
      s.plan_id as "planId", p.name as "planName",
      (date_part('epoch', l.at) * 1000)::bigint as "leftAt",
      case when became.to_status = 'failed' then 'failed' else 'cancelled' end as cause
    from (
      select subscription_id, position, at from status_events
      where shop_id = ${shopId}
        and from_status in ('active', 'paused') and to_status not in ('active', 'paused')
        and at >= ${iso(from)} and at < ${iso(until)} and (at, subscription_id) < (${after.at}, ${after.id})
      order by at desc, subscription_id desc offset 0
    ) l
    cross join lateral (
      select to_status from status_events
      where shop_id = ${shopId} and subscription_id = l.subscription_id and at <= ${at}
      order by position desc limit 1
    ) last
    left join lateral (
      select true as is_back from (
        select * from status_events
        where shop_id = ${shopId} and subscription_id = l.subscription_id
          and position > l.position and at <= ${at}
        order by position offset 0
      ) e
      where to_status in ('active', 'paused') limit 1
    ) later on true
    cross join lateral (
      select to_status from (
        select * from status_events
        where shop_id = ${shopId} and subscription_id = l.subscription_id
          and position >= l.position
        order by position desc offset 0
      ) e
      where at = l.at limit 1
    ) became
    cross join lateral (
      select customer_id, plan_id from subscriptions
      where shop_id = ${shopId}
        and subscription_id between l.subscription_id and l.subscription_id
      order by subscription_id limit 1
    ) s
    cross join lateral (
      select name from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p
    where last.to_status in ('cancelled', 'failed') and is_back is null
    order by l.at desc, l.subscription_id desc
    limit ${page.limit}`;
}
