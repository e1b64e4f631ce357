import { type RecordType, records } from '../../records/records.ts';
import { type Transaction, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import type { Judged } from './writing.ts';

interface Deleted {
  readonly judged: readonly Judged[];
  /** Customers who may have no subscriptions left. */
  readonly touchedCustomerIds: readonly number[];
}

type Delete = (tx: Transaction, shopId: number, ids: readonly number[]) => Promise<Deleted>;

interface DeletedRow {
  readonly id: number;
  readonly customerId?: number;
}

/**
 * How to delete records of each type by id. An id that is not stored is `unchanged`; a plan that
 * subscriptions still use is `waiting`. A subscription is deleted with its lines, events, payments, refunds
 * and dunning cases; its cancellation sessions stay, but no longer refer to it.
 */
export const deletions = {
  plan: async (tx: Transaction, shopId: number, ids: readonly number[]) => {
    const rows = await tx<{ id: number }[]>`
      select requested.id from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
      cross join ${lookup(tx, shopId, 'subscriptions', 'plan_id', 'requested.id')} used`;
    const used = new Set(rows.map(({ id }) => id));
    const unused = arrayText(ids.filter((id) => !used.has(id)));
    return deleted(
      ids,
      await tx<DeletedRow[]>`
        delete from plans where shop_id = ${shopId} and plan_id = any (${unused}::text::bigint[])
        returning plan_id as id`,
      used,
    );
  },
  subscription: async (tx: Transaction, shopId: number, ids: readonly number[]) => {
    const [, , rows] = await Promise.all([
      tx`
        delete from contacted_cases
        where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])`,
      tx`
        update cancellation_sessions set subscription_id = null
        where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])`,
      tx<DeletedRow[]>`
        delete from subscriptions where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])
        returning subscription_id as id, customer_id as "customerId"`,
    ]);
    return deleted(ids, rows);
  },
  payment: deleteFrom('payment'),
  refund: deleteFrom('refund'),
  cancellation: deleteFrom('cancellation'),
} satisfies Record<RecordType, Delete>;

/** Deletes records that need no care, as what belongs to them goes with them. */
function deleteFrom(type: RecordType): Delete {
  const { table, idColumn } = records[type];
  return async (tx, shopId, ids) => {
    const column = tx.id(idColumn);
    const rows = await tx<DeletedRow[]>`
      delete from ${tx.id(table)} where shop_id = ${shopId} and ${column} = any (${arrayText(ids)}::text::bigint[])
      returning ${column} as id`;
    return deleted(ids, rows);
  };
}

/** @param used those that cannot be deleted yet */
function deleted(
  ids: readonly number[],
  rows: readonly DeletedRow[],
  used: ReadonlySet<number> = new Set(),
): Deleted {
  const gone = new Set(rows.map((row) => row.id));
  return {
    judged: ids.map((id) => ({
      id,
      verdict: used.has(id) ? 'waiting' : gone.has(id) ? 'stored' : 'unchanged',
    })),
    touchedCustomerIds: rows.flatMap((row) => row.customerId ?? []),
  };
}
