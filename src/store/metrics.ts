import type { IntervalUnit } from '../vocabulary.ts';
import { answerOf, type Sql } from './database.ts';

/** The counts and exact sums behind the metrics summary; sums are decimals as text. */
export interface MetricsRow {
  readonly activeSubscribers: number;
  readonly pausedSubscribers: number;
  /** Active value by billing interval, from which the monthly value follows. */
  readonly activeValue: readonly { unit: IntervalUnit; count: number; sum: string }[];
  readonly activeSubscriptions: number;
  readonly paid: string;
  readonly refunded: string;
  readonly newSubscribers: number;
  readonly cancelled: number;
  readonly atRisk: number;
  readonly churned: number;
  readonly sessions: number;
  readonly sessionsSaved: number;
  readonly sessionsEnded: number;
  readonly dunningActive: number;
  readonly dunningRecovered: number;
  readonly dunningClosed: number;
  readonly failedPayments: number;
  readonly upcomingRenewals: number;
  readonly upcomingRenewalsValue: string;
}

const hour = 3_600_000;

/**
 * Everything the summary needs, computed from the stored records as they stand at `now`: what is
 * dated later is not yet seen.
 * @param now epoch milliseconds; the windows are the 30 × 24 h before and the 7 × 24 h after it
 */
export async function summariseMetrics(sql: Sql, shopId: number, now: number): Promise<MetricsRow> {
  const at = new Date(now).toISOString();
  const since = new Date(now - 30 * 24 * hour).toISOString();
  const until = new Date(now + 7 * 24 * hour).toISOString();

  const [row] = await answerOf(
    sql<MetricsRow[]>`
    with instants as materialized (
      select ${at}::timestamptz as now, ${since}::timestamptz as since,
        ${until}::timestamptz as until
    ),
    -- Each subscription as it is now: its stored status, unless that is dated in the future.
    seen as materialized (
      select s.subscription_id, s.customer_id, s.current_price, s.created_at, s.next_billing_at,
        s.status_since as changed_at,
        coalesce(s.own_interval_unit, p.interval_unit) as unit,
        coalesce(s.own_interval_count, p.interval_count) as count,
        case when s.status_since <= i.now then s.status
          else coalesce(past.to_status, 'active') end as status,
        case when s.status_since <= i.now then s.status_since
          else coalesce(past.at, s.created_at) end as since
      from instants i
      join subscriptions s on s.shop_id = ${shopId} and s.created_at <= i.now
      join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
      left join lateral (
        select e.to_status, e.at from status_events e
        where s.status_since > i.now
          and e.shop_id = s.shop_id and e.subscription_id = s.subscription_id and e.at <= i.now
        order by e.position desc limit 1
      ) past on true
    ),
    -- Live just before the window, or become live within it.
    at_risk as (
      select v.status, v.since
      from instants i, seen v
      where case
        when v.changed_at < i.since then v.status in ('active', 'paused')
        when v.created_at >= i.since then v.created_at < i.now
        else coalesce((
            select e.to_status from status_events e
            where e.shop_id = ${shopId} and e.subscription_id = v.subscription_id
              and e.at < i.since
            order by e.position desc limit 1
          ), 'active') in ('active', 'paused')
          or exists (
            select from status_events e
            where e.shop_id = ${shopId} and e.subscription_id = v.subscription_id
              and e.at >= i.since and e.at < i.now
              and e.to_status in ('active', 'paused') and e.from_status not in ('active', 'paused')
          )
      end
    ),
    subscribers as (
      select bool_or(status = 'active') as active, bool_or(status = 'paused') as paused,
        min(created_at) as first_at
      from seen group by customer_id
    ),
    by_interval as (
      select unit, count, count(*) as subscriptions, sum(current_price) as sum
      from seen where status = 'active' group by unit, count
    )
    select customers.*, worth.*, renewals.*, churn.*, cancelled.*, paid.*, refunded.*, dunning.*,
      sessions.*
    from instants i,
    lateral (
      select count(*) filter (where active) as "activeSubscribers",
        count(*) filter (where paused and not active) as "pausedSubscribers",
        count(*) filter (where first_at >= i.since and first_at < i.now) as "newSubscribers"
      from subscribers
    ) customers,
    lateral (
      select coalesce(sum(subscriptions), 0)::bigint as "activeSubscriptions",
        coalesce(json_agg(json_build_object('unit', unit, 'count', count, 'sum', sum::text)), '[]')
          as "activeValue"
      from by_interval
    ) worth,
    lateral (
      select count(*) as "upcomingRenewals",
        coalesce(sum(current_price), 0) as "upcomingRenewalsValue"
      from seen
      where status = 'active' and next_billing_at >= i.now and next_billing_at < i.until
    ) renewals,
    lateral (
      select count(*) as "atRisk", count(*) filter (
          where status in ('cancelled', 'failed') and since >= i.since and since < i.now
        ) as churned
      from at_risk
    ) churn,
    lateral (
      select count(*) as cancelled from seen
      where status = 'cancelled' and since >= i.since and since < i.now
    ) cancelled,
    lateral (
      select coalesce(sum(amount) filter (where status = 'succeeded'), 0) as paid,
        count(distinct (subscription_id, cycle)) filter (
          where status = 'failed' and failure_kind is distinct from 'inventory'
        ) as "failedPayments"
      from payments
      where shop_id = ${shopId} and processed_at >= i.since and processed_at < i.now
    ) paid,
    lateral (
      select coalesce(sum(amount), 0) as refunded from refunds
      where shop_id = ${shopId} and refunded_at >= i.since and refunded_at < i.now
    ) refunded,
    lateral (
      select count(distinct subscription_id) filter (
          where opened_at <= i.now and (closed_at is null or closed_at > i.now)
        ) as "dunningActive",
        count(*) filter (
          where closed_at >= i.since and closed_at < i.now and result = 'recovered'
        ) as "dunningRecovered",
        count(*) filter (where closed_at >= i.since and closed_at < i.now) as "dunningClosed"
      from dunning_cases where shop_id = ${shopId}
    ) dunning,
    lateral (
      select count(*) as sessions, count(*) filter (where outcome = 'saved') as "sessionsSaved",
        count(outcome) as "sessionsEnded"
      from cancellation_sessions
      where shop_id = ${shopId} and created_at >= i.since and created_at < i.now
    ) sessions`,
  );
  return row as MetricsRow;
}
