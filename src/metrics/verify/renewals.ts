import { parseDecimal, zero } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { day } from '../bounds.ts';
import { type RenewalWeek, projectedWeeks } from '../revenue/projection.ts';

/**
 * The same as projectRenewals, following the definition directly: every renewal of every active subscription, from
 * the records alone.
 * @param now epoch milliseconds
 */
export async function projectionFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
): Promise<RenewalWeek[]> {
  const at = new Date(now).toISOString();
  const until = new Date(now + projectedWeeks * 7 * day).toISOString();
  const rows = await sql<{ week: number; renewals: number; value: string }[]>`
    with instants as materialized (
      select ${at}::timestamptz as now, ${until}::timestamptz as until
    ),
    seen as materialized (
      select s.subscription_id, s.current_price, s.next_billing_at at time zone 'UTC' as next,
        coalesce(s.own_interval_unit, p.interval_unit) as unit,
        coalesce(s.own_interval_count, p.interval_count) as count
      from instants i
      join (
        select * from subscriptions where shop_id = ${shopId} order by subscription_id offset 0
      ) s on s.created_at <= i.now and s.next_billing_at >= i.now and s.next_billing_at < i.until
      cross join lateral (
        select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
      ) p
      left join lateral (
        select e.to_status from status_events e
        where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
        order by e.position desc limit 1
      ) past on true
      where case when s.status_since <= i.now then s.status else coalesce(past.to_status, 'active') end
        = 'active'
    ),
    renewals as (
      select distinct s.subscription_id, s.current_price,
        floor(date_part('epoch', r.at at time zone 'UTC' - i.now) / ${7 * 86_400}::int)::int as week
      from instants i, seen s
      cross join generate_series(0, 55) cycle
      cross join lateral (
        select s.next + case s.unit
          when 'day' then make_interval(days => s.count * cycle)
          when 'week' then make_interval(weeks => s.count * cycle)
          when 'month' then make_interval(months => s.count * cycle)
          else make_interval(years => s.count * cycle)
        end as at
      ) r
      where r.at at time zone 'UTC' < i.until
    )
    select week, count(*) as renewals, sum(current_price) as value from renewals group by week`;
  const byWeek = new Map(rows.map((row) => [row.week, row]));
  return Array.from({ length: projectedWeeks }, (_, index) => {
    const row = byWeek.get(index);
    return {
      from: now + index * 7 * day,
      renewals: row?.renewals ?? 0,
      value: row ? parseDecimal(row.value) : zero,
    };
  });
}
