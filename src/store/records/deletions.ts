import { type Transaction, arrayText } from '../database.ts';
import type { Judged } from './verdict.ts';

/** Subscriptions whose dunning cases may change, and customers who may have no subscriptions left. */
interface Deleted {
  readonly judged: readonly Judged[];
  readonly touchedSubscriptionIds: readonly number[];
  readonly touchedCustomerIds: readonly number[];
}

type Delete = (tx: Transaction, shopId: number, ids: readonly number[]) => Promise<Deleted>;

interface DeletedRow {
  readonly id: number;
  readonly subscriptionId?: number;
  readonly customerId?: number;
}

/**
 * How to delete records of each type by id. An id that is not stored is `unchanged`; a plan that
 * subscriptions still use is `waiting`. A subscription is deleted with its lines, events, payments, refunds
 * and dunning cases; its cancellation sessions stay, but no longer refer to it.
 */
export const deletions = {
  plan: async (tx: Transaction, shopId: number, ids: readonly number[]) => {
    const judged = await tx<Judged[]>`
      with incoming as materialized (
        select unnest(${arrayText(ids)}::text::bigint[]) as id
      ),
      judged as materialized (
        select id, case
            when p.plan_id is null then 'unchanged'
            when exists (
              select from subscriptions s where s.shop_id = ${shopId} and s.plan_id = id
            ) then 'waiting'
            else 'stored'
          end as verdict
        from incoming left join plans p on p.shop_id = ${shopId} and p.plan_id = id
      ),
      gone as (
        delete from plans where shop_id = ${shopId}
          and plan_id in (select id from judged where verdict = 'stored')
      )
      select id, verdict from judged`;
    return { judged, touchedSubscriptionIds: [], touchedCustomerIds: [] };
  },
  subscription: async (tx: Transaction, shopId: number, ids: readonly number[]) => {
    const [, rows] = await Promise.all([
      tx`
        update cancellation_sessions set subscription_id = null
        where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])`,
      tx<DeletedRow[]>`
        delete from subscriptions where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])
        returning subscription_id as id, customer_id as "customerId"`,
    ]);
    return deleted(ids, rows);
  },
  payment: async (tx: Transaction, shopId: number, ids: readonly number[]) =>
    deleted(
      ids,
      await tx<DeletedRow[]>`
        delete from payments where shop_id = ${shopId} and payment_id = any (${arrayText(ids)}::text::bigint[])
        returning payment_id as id, subscription_id as "subscriptionId"`,
    ),
  refund: async (tx: Transaction, shopId: number, ids: readonly number[]) =>
    deleted(
      ids,
      await tx<DeletedRow[]>`
        delete from refunds where shop_id = ${shopId} and refund_id = any (${arrayText(ids)}::text::bigint[])
        returning refund_id as id`,
    ),
  cancellation: async (tx: Transaction, shopId: number, ids: readonly number[]) =>
    deleted(
      ids,
      await tx<DeletedRow[]>`
        delete from cancellation_sessions where shop_id = ${shopId} and session_id = any (${arrayText(ids)}::text::bigint[])
        returning session_id as id`,
    ),
} satisfies Record<string, Delete>;

function deleted(ids: readonly number[], rows: readonly DeletedRow[]): Deleted {
  const gone = new Set(rows.map((row) => row.id));
  return {
    judged: ids.map((id) => ({
      id,
      verdict: gone.has(id) ? 'stored' : 'unchanged',
    })),
    touchedSubscriptionIds: rows.flatMap((row) => row.subscriptionId ?? []),
    touchedCustomerIds: rows.flatMap((row) => row.customerId ?? []),
  };
}
