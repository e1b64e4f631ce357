import { type Sql, type Transaction, arrayText } from '../database.ts';
import { each } from '../lookup.ts';
import type { RecordKind } from './export-dates.ts';

/** The source's own id, such as `cus_…`, beside the id here that was derived from it. */
export interface SourceId {
  readonly kind: RecordKind;
  readonly id: number;
  readonly sourceId: string;
}

type RecordId = Pick<SourceId, 'kind' | 'id'>;

/** The source ids that are stored for some of the records. */
export function listSourceIds(
  sql: Sql | Transaction,
  shopId: number,
  records: readonly RecordId[],
): Promise<SourceId[]> {
  const [kinds, ids] = columnsOf(records);
  return sql<SourceId[]>`
    select requested.kind, requested.id, stored.source_id as "sourceId"
    from unnest(${kinds}::text::text[], ${ids}::text::bigint[]) requested (kind, id)
    cross join lateral (
      select source_id from source_ids
      where shop_id = ${shopId} and kind = requested.kind and id = requested.id offset 0
    ) stored`;
}

/** All that is stored for a customer, their subscriptions, and what belongs to these. */
export function listSourceIdsOfCustomer(
  sql: Sql,
  shopId: number,
  customerId: number,
): Promise<SourceId[]> {
  return sql<SourceId[]>`
    with theirs as (
      select subscription_id from ${each(sql, shopId, 'subscriptions', 'customer_id', customerId)} s
    ), paid as (
      select p.payment_id from theirs
      cross join ${each(sql, shopId, 'payments', 'subscription_id', 'theirs.subscription_id')} p
    ), held as (
      select 'customer' as kind, ${customerId}::bigint as id
      union all select 'subscription', subscription_id from theirs
      union all select 'payment', payment_id from paid
      union all select 'refund', r.refund_id from paid
        cross join ${each(sql, shopId, 'refunds', 'payment_id', 'paid.payment_id')} r
      union all select 'cancellation', c.session_id from theirs
        cross join ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 'theirs.subscription_id')} c
    )
    select kind, id, s.source_id as "sourceId" from held
    cross join lateral (
      select source_id from source_ids
      where shop_id = ${shopId} and kind = held.kind and id = held.id limit 1
    ) s
    order by kind, id`;
}

/** Stores source ids of records that have none; a customer's only while the customer is stored. */
export async function insertSourceIds(
  tx: Transaction,
  shopId: number,
  sourceIds: readonly SourceId[],
): Promise<void> {
  const [kinds, ids] = columnsOf(sourceIds);
  const texts = arrayText(sourceIds.map(({ sourceId }) => sourceId));
  await tx`
    insert into source_ids (shop_id, kind, id, source_id)
    select shop.shop_id, new.kind, new.id, new.source_id from metric_shops shop
    cross join unnest(${kinds}::text::text[], ${ids}::text::bigint[], ${texts}::text::text[])
      new (kind, id, source_id)
    left join lateral (
      select true as is_stored from customers
      where shop_id = ${shopId} and customer_id = new.id limit 1
    ) customer on true
    where shop.shop_id = ${shopId} and (new.kind <> 'customer' or customer.is_stored)
    on conflict do nothing`;
}

function columnsOf(records: readonly RecordId[]): [kinds: string, ids: string] {
  return [arrayText(records.map(({ kind }) => kind)), arrayText(records.map(({ id }) => id))];
}
