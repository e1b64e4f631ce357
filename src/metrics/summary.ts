import { withTimeout, type Sql, type Transaction } from '../store/database.ts';
import { type Period, day, monthBefore } from './bounds.ts';
import type { FactSum } from './facts.ts';
import { endsOf } from './pieces.ts';
import { type MetricsRow, rowOf } from './row.ts';
import {
  changing,
  corrections,
  failingAgain,
  happened,
  renewing,
  scopeOf,
  state,
} from './summary-parts.ts';

/**
 * The inputs of the figures of a period: what happened in it, and what held at its end, as seen from then;
 * anything dated later is ignored. Whole days, hours and minutes come from the ledger, and the remainders at the
 * ends from the facts. States are the final state minus all changes after the end.
 * @param now epoch milliseconds
 * @param period any that ends at `now` or earlier. The renewals of the 7 × 24 h after its end are known only if
 * that is now, as nobody keeps earlier billing dates; else they are undefined.
 */
export async function summariseMetrics(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  period: Period = monthBefore(now),
): Promise<MetricsRow> {
  const isCurrent = period.until === now;
  const scope = scopeOf(shopId, period, isCurrent ? 7 * day : 0);
  const sums = await withTimeout(sql<FactSum[]>`
    with kept as materialized (
      select coalesce(max(hours_since), 'infinity') as since from metric_shops
      where shop_id = ${shopId}
    ),
    past_ends as materialized (${endsOf(sql, scope.past)}),
    next_ends as materialized (${endsOf(sql, scope.next)}),
    happened as (${happened(sql, scope)}),
    failing_again as (${failingAgain(sql, scope)}),
    renewing as (${renewing(sql, scope)}),
    state as (${state(sql, scope)}),
    changing as (${changing(sql, scope)}),
    corrections as (${corrections(sql, scope)})
    select fact, sum(count)::bigint as count, sum(amount) as amount
    from (
      select fact, count, amount from happened
      union all select fact, count, amount from failing_again
      union all select 'renewal', * from renewing
      union all select * from state
      union all select fact, count, amount from corrections
    ) facts
    group by fact`);
  return rowOf(sums, isCurrent);
}
