import { withTimeout, type Sql, type Transaction } from '../store/database.ts';
import { boundsOf, day, restOfTime } from './bounds.ts';
import type { FactSum } from './facts.ts';
import { endsOf } from './pieces.ts';
import { type MetricsRow, rowOf } from './row.ts';
import { changing, corrections, failingAgain, happened, renewing, state } from './summary-parts.ts';

/**
 * The inputs of the summary at an instant, ignoring anything dated later. Whole days, hours and
 * minutes of the windows come from the ledger, and the remainders at their ends from the facts.
 * States are the final state minus all changes after the instant. The cost therefore does not grow
 * with the shop.
 * @param now epoch milliseconds; the windows are the 30 × 24 h before and the 7 × 24 h after it
 * @param followsChanges whether to use the history of subscriptions that change after `now`, at a
 * cost per change. Otherwise cancelled, atRisk, churned, failedPayments and the renewals may
 * reflect later changes; all other values are exact.
 */
export async function summariseMetrics(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  { followsChanges = true } = {},
): Promise<MetricsRow> {
  const at = new Date(now).toISOString();
  const scope = {
    shopId,
    at,
    since: new Date(now - 30 * day).toISOString(),
    until: new Date(now + 7 * day).toISOString(),
    changedFrom: followsChanges ? at : 'infinity',
    past: boundsOf(now - 30 * day, now),
    next: boundsOf(now, now + 7 * day),
    // The state at an instant includes changes at that instant.
    after: restOfTime(now + 1),
  };

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
      select * from happened
      union all select * from failing_again
      union all select 'renewal', * from renewing
      union all select * from state
      union all select * from corrections
    ) facts
    group by fact`);
  return rowOf(sums);
}
