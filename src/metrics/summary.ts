import { isoTime } from '../iso-time.ts';
import { withTimeout, type Sql, type Transaction } from '../store/database.ts';
import { type Period, day, monthBefore, restOfTime } from './bounds.ts';
import { type FactSum, type MetricsRow, rowOf } from './facts.ts';
import {
  endsOf,
  keptOf,
  changesIn,
  corrections,
  failingAgain,
  happened,
  scopeOf,
  state,
  superseded,
} from './ledger.ts';
import { renewing } from './renewals.ts';

/**
 * The inputs of the figures of a period: what happened in it, and what held at its end, as seen from then;
 * anything dated later is ignored. Whole days, hours and minutes come from the ledger, and the remainders at the
 * ends from the facts. States are the final state minus all changes after the end.
 * @param now epoch milliseconds
 * @param period any that ends at `now` or earlier. The renewals of the 7 × 24 h after its end are known only if
 * that is now, as earlier billing dates are not kept; else they are undefined.
 */
export async function summariseMetrics(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  period: Period = monthBefore(now),
): Promise<MetricsRow> {
  const isCurrent = period.until === now;
  // What happens now is in the state of now; what happens at the end of a past period is not yet in its.
  const scope = scopeOf(shopId, period, isCurrent ? isoTime(now) : undefined);
  const after = restOfTime(isCurrent ? now + 1 : period.until);
  const renewals = renewing(sql, shopId, { from: now, until: now + 7 * day });
  const coming = isCurrent
    ? sql`union all select 'renewal', count, amount from (${renewals}) r`
    : sql``;
  const sums = await withTimeout(sql<FactSum[]>`
    with kept as materialized (${keptOf(sql, shopId)}),
    ends as materialized (${endsOf(sql, scope.bounds)}),
    superseded as materialized (${superseded(sql, shopId, scope.at)}),
    changed_after as materialized (${changesIn(sql, shopId, after.end)})
    select fact, sum(count)::bigint as count, sum(amount) as amount
    from (
      select fact, count, amount from (${happened(sql, scope)}) h
      union all select fact, count, amount from (${failingAgain(sql, scope)}) f
      union all select fact, count, amount from (${corrections(sql, scope)}) c
      union all select * from (${state(sql, scope, after)}) s
      ${coming}
    ) facts
    group by fact`);
  return rowOf(sums, isCurrent);
}

/** The active subscribers at the end of a period, as summariseMetrics counts them, in a tenth of its time. */
export async function countSubscribers(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  { until }: Period,
): Promise<number> {
  const after = restOfTime(until === now ? now + 1 : until);
  const [row] = await sql<[{ count: number }]>`
    select coalesce(sum(count), 0)::bigint as count from (
      select count from metric_ledger
      where shop_id = ${shopId} and grain = 'all' and fact = 'subscriber'
      union all
      select -count from metric_ledger
      where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days} and fact = 'subscriber'
      union all
      select -subscriber from (${changesIn(sql, shopId, after.end)}) c
    ) counted`;
  return row.count;
}
