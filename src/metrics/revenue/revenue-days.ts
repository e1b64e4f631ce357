import type { Sql } from '../../store/database.ts';
import { wholeDaysOf } from '../bounds.ts';
import { intervalsOf } from '../pieces.ts';

/** What was paid on a UTC day, less what was refunded on it. */
export interface RevenueDay {
  /** For example 2026-11-20. */
  readonly day: string;
  /** A decimal. */
  readonly revenue: string;
}

/**
 * The revenue of an interval by UTC day; days without payments and refunds have no row. The cost grows with the
 * number of days, and with the payments on the first and the last.
 * @param from, until epoch milliseconds; includes `from`, excludes `until`
 */
export async function listRevenueDays(
  sql: Sql,
  shopId: number,
  from: number,
  until: number,
): Promise<RevenueDay[]> {
  const { days, ends } = wholeDaysOf(from, until);
  return sql<RevenueDay[]>`
    with ends as materialized (${intervalsOf(sql, ends)})
    select to_char(metric_day(at) at time zone 'UTC', 'YYYY-MM-DD') as day, sum(amount) as revenue
    from (
      select bucket as at, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact = 'paid'
      union all
      select bucket, -amount from metric_ledger
      where shop_id = ${shopId} and grain = 'day' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact = 'refunded'
      union all
      select p.* from ends e
      cross join lateral (
        select processed_at, amount from payments
        where shop_id = ${shopId} and status = 'succeeded'
          and processed_at >= e.since and processed_at < e.until
        order by processed_at offset 0
      ) p
      union all
      select r.* from ends e
      cross join lateral (
        select refunded_at, -amount from refunds
        where shop_id = ${shopId} and refunded_at >= e.since and refunded_at < e.until
        order by refunded_at offset 0
      ) r
    ) moved
    group by metric_day(at)
    order by 1`;
}
