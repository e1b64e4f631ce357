import { deleteChain } from '../owners/audit.ts';
import { type RecordType, records, deletionOrder } from '../../records/records.ts';
import { type Transaction, type Sql, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import { type Judged, lockForWriting } from './writing.ts';

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

/** Small, so that other clients of the database hardly wait. */
const subscriptionsPerTransaction = 500;

interface ShopDeletion {
  /** Begins each of its transactions; what it throws stops the deletion there. */
  readonly check?: (tx: Transaction) => Promise<void>;
  /** Deletes what platforms keep of the shop, in the last transaction. */
  readonly forget: (tx: Transaction, shopId: number) => Promise<void>;
}

/**
 * Deletes a shop and everything stored about it: data, keys, their log, memberships, and the accounts of
 * owners who have no other shop. If interrupted, a second call resumes.
 * @param check runs first in each transaction; stops the deletion if it throws
 */
export async function deleteShop(
  sql: Sql,
  shopId: number,
  { check = async () => {}, forget }: ShopDeletion,
): Promise<void> {
  // Delete the keys first, so that no one reads partly deleted data.
  await sql.begin(async (tx) => {
    await check(tx);
    await tx`delete from api_keys where shop_id = ${shopId}`;
  });
  for (let isDone = false; !isDone;) {
    isDone = await sql.begin(async (tx) => {
      await check(tx);
      await lockForWriting(tx, shopId);
      const first = await tx<{ id: number }[]>`
        select subscription_id as id from subscriptions where shop_id = ${shopId}
        order by subscription_id limit ${subscriptionsPerTransaction}`;
      const last = first.at(-1);
      if (!last) return true;
      await tx`
        delete from subscriptions where shop_id = ${shopId} and subscription_id <= ${last.id}`;
      return false;
    });
  }
  await sql.begin(async (tx) => {
    await check(tx);
    await deleteOwnersOf(tx, shopId);
    await lockForWriting(tx, shopId);
    await forget(tx, shopId);
    for (const table of [...deletionOrder.map((type) => records[type].table), ...otherTables]) {
      await tx`delete from ${tx.id(table)} where shop_id = ${shopId}`;
    }
  });
}

/** What is deleted of a shop after its records, in this order. Keys may have been created in the meantime. */
const otherTables = [
  'customers',
  'customer_keys',
  'source_ids',
  'export_dates',
  'snapshot_dates',
  'redacted_customers',
  'ingest.batches',
  'ingest.remembered_answers',
  'ingest.uploads',
  'ingest.sources',
  'platforms.connections',
  'platforms.syncs',
  'platforms.streams',
  'feeds',
  'subscriber_changes',
  'failed_cycles',
  'contacted_cases',
  'departures',
  'superseded_facts',
  'metric_ledger',
  'metric_shops',
  'api_keys',
  'shops',
];

/** Deletes owners who have no shop left, and with them their sessions. */
async function deleteOwnersOf(tx: Transaction, shopId: number): Promise<void> {
  await tx`delete from owners.events where shop_id = ${shopId}`;
  await deleteChain(tx, shopId);
  await tx`delete from owners.segments where shop_id = ${shopId}`;
  await tx`
    with theirs as (
      delete from owners.links where shop_id = ${shopId} returning owner_id
    ), members as (
      delete from owners.memberships where shop_id = ${shopId} returning owner_id
    )
    delete from owners.accounts a
    where a.owner_id in (select owner_id from theirs union select owner_id from members)
      and not exists (
        select from owners.memberships m where m.owner_id = a.owner_id and m.shop_id <> ${shopId})
      and not exists (
        select from owners.links l where l.owner_id = a.owner_id and l.shop_id <> ${shopId})`;
}
