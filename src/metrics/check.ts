import type { Sql, Transaction } from '../store/database.ts';

/** A ledger sum, or a fact behind it, that differs from the records. */
export interface LedgerDifference {
  readonly table: 'metric_ledger' | 'subscriber_changes' | 'failed_cycles' | 'dunning_cases';
  /** The row's key columns, in order. */
  readonly key: string;
  readonly stored: string | null;
  readonly expected: string | null;
}

/** Maximum number of differences reported; one cause may produce thousands. */
const maxDifferences = 100;

/** Compares a shop's stored metrics with its records. Reads all of them. */
export async function findLedgerDifferences(
  sql: Sql | Transaction,
  shopId: number,
): Promise<LedgerDifference[]> {
  return sql<LedgerDifference[]>`
    with customers as materialized (
      select array(
        select distinct customer_id from subscriptions where shop_id = ${shopId}
      ) as ids
    ),
    held as materialized (
      select array(select subscription_id from subscriptions where shop_id = ${shopId}) as ids
    ),
    stored as (
      select 'metric_ledger' as name, concat_ws(' ', grain, bucket, fact) as key,
        concat_ws(' ', count, trim_scale(amount)) as value
      from metric_ledger where shop_id = ${shopId}
      union all
      select 'subscriber_changes', concat_ws(' ', customer_id, at), c::text
      from subscriber_changes c where shop_id = ${shopId}
      union all
      select 'failed_cycles', concat_ws(' ', subscription_id, cycle, failed_at), is_last::text
      from failed_cycles where shop_id = ${shopId}
      union all
      select 'dunning_cases', concat_ws(' ', subscription_id, position),
        concat_ws(' ', opened_at, closed_at, result)
      from dunning_cases where shop_id = ${shopId}
    ),
    expected as (
      select 'metric_ledger' as name, concat_ws(' ', grain, bucket, fact) as key,
        concat_ws(' ', count, amount) as value
      from metric_sums_of(${shopId})
      union all
      select 'subscriber_changes', concat_ws(' ', c.customer_id, c.at), c::text
      from customers, subscriber_changes_of(${shopId}, ids) c
      union all
      select 'failed_cycles', concat_ws(' ', f.subscription_id, f.cycle, f.failed_at),
        f.is_last::text
      from held h, failed_cycles_of(${shopId}, h.ids) f
      union all
      select 'dunning_cases', concat_ws(' ', d.subscription_id, d.position),
        concat_ws(' ', d.opened_at, d.closed_at, d.result)
      from held h, dunning_cases_of(${shopId}, h.ids) d
    )
    select name as table, key, s.value as stored, e.value as expected
    from stored s full join expected e using (name, key)
    where s.value is distinct from e.value
    order by name, key
    limit ${maxDifferences}`;
}

/** Recomputes a shop's stored metrics from its records, in one transaction. */
export async function rebuildMetrics(sql: Sql, shopId: number): Promise<void> {
  await sql`select rebuild_metrics(${shopId})`;
}
