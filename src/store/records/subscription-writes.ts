import type { SubscriptionStatus } from '../../vocabulary.ts';
import { type Transaction, arrayText } from '../database.ts';
import type { Judged } from './verdict.ts';

export interface JudgedSubscription extends Judged {
  /** Status and customer of the stored record, if there was one. */
  readonly previousStatus: SubscriptionStatus | null;
  readonly previousCustomerId: number | null;
}

/** JSON arrays of rows from `ingest`. */
export interface SubscriptionJson {
  /** Ids must be unique. */
  readonly subscriptions: string;
  /** Lines and events of these subscriptions. */
  readonly lines: string;
  readonly events: string;
}

/**
 * A subscription waits if its plan is not stored. A new one is written with its lines and events in one
 * statement, so that metrics are computed only once; for a replaced one, the caller must then call
 * replaceLinesAndEvents.
 */
export async function upsertSubscriptions(
  tx: Transaction,
  shopId: number,
  { subscriptions, lines, events }: SubscriptionJson,
): Promise<JudgedSubscription[]> {
  return tx<JudgedSubscription[]>`
    with incoming as materialized (
      select * from json_to_recordset(${subscriptions}::text::json) as r(
        id bigint, "customerId" bigint, "planId" bigint, status text, "statusSince" timestamptz,
        "currentPrice" numeric, "intervalUnit" text, "intervalCount" int,
        "nextBillingDate" timestamptz, "paidThroughAt" timestamptz, "createdAt" timestamptz,
        "updatedAt" timestamptz, digest uuid)
    ),
    judged as materialized (
      select i.*, s.status as "previousStatus", s.customer_id as "previousCustomerId", case
          when i."updatedAt" < s.updated_at then 'stale'
          when i.digest = s.digest then 'unchanged'
          when p.plan_id is null then 'waiting'
          when s.subscription_id is null then 'stored'
          else 'replaced'
        end as verdict
      from incoming i
      left join lateral (
        select * from subscriptions where shop_id = ${shopId} and subscription_id = i.id limit 1
      ) s on true
      left join lateral (
        select plan_id from plans where shop_id = ${shopId} and plan_id = i."planId" limit 1
      ) p on true
    ),
    known as (
      insert into customers (shop_id, customer_id)
      select distinct ${shopId}::bigint, "customerId" from judged
      where verdict in ('stored', 'replaced')
      on conflict do nothing
    ),
    written as (
      insert into subscriptions (shop_id, subscription_id, customer_id, plan_id, status,
        status_since, current_price, own_interval_unit, own_interval_count, next_billing_at,
        paid_through_at, created_at, updated_at, digest)
      select ${shopId}, id, "customerId", "planId", status, "statusSince", "currentPrice",
        "intervalUnit", "intervalCount", "nextBillingDate", "paidThroughAt", "createdAt",
        "updatedAt", digest
      from judged where verdict in ('stored', 'replaced')
      on conflict (shop_id, subscription_id) do update set
        customer_id = excluded.customer_id, plan_id = excluded.plan_id, status = excluded.status,
        status_since = excluded.status_since, current_price = excluded.current_price,
        own_interval_unit = excluded.own_interval_unit,
        own_interval_count = excluded.own_interval_count,
        next_billing_at = excluded.next_billing_at, paid_through_at = excluded.paid_through_at,
        created_at = excluded.created_at, updated_at = excluded.updated_at,
        digest = excluded.digest
    ),
    written_lines as (
      ${insertLines(tx, shopId, lines)}
      where "subscriptionId" in (select id from judged where verdict = 'stored')
    ),
    written_events as (
      ${insertEvents(tx, shopId, events)}
      where "subscriptionId" in (select id from judged where verdict = 'stored')
    )
    select id, verdict, "previousStatus", "previousCustomerId" from judged`;
}

/**
 * @param replacedIds subscriptions that had lines and events before
 * @param lines, events JSON arrays of rows of these subscriptions
 */
export async function replaceLinesAndEvents(
  tx: Transaction,
  shopId: number,
  replacedIds: readonly number[],
  lines: string,
  events: string,
): Promise<void> {
  const ids = arrayText(replacedIds);
  // Pipelined; the server runs them in order.
  await Promise.all([
    tx`delete from subscription_lines where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
    tx`delete from status_events where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
    insertLines(tx, shopId, lines),
    insertEvents(tx, shopId, events),
  ]);
}

interface StatusChangeRow {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly from: SubscriptionStatus;
  readonly to: SubscriptionStatus;
}

/** Status changes of the given subscriptions, in order within each. */
export function listStatusChanges(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<StatusChangeRow[]> {
  return tx<StatusChangeRow[]>`
    select i.id, (extract(epoch from e.at) * 1000)::bigint as at, e.from_status as from,
      e.to_status as to
    from unnest(${arrayText(ids)}::text::bigint[]) as i(id)
    cross join lateral (
      select * from status_events where shop_id = ${shopId} and subscription_id = i.id
      order by position offset 0
    ) e`;
}

const insertLines = (tx: Transaction, shopId: number, lines: string) => tx`
  insert into subscription_lines (shop_id, subscription_id, line_id, position, product_id,
    product_title, variant_id, variant_title, quantity, current_price)
  select ${shopId}::bigint, "subscriptionId", "lineId", position, "productId", "productTitle",
    "variantId", "variantTitle", quantity, "currentPrice"
  from json_to_recordset(${lines}::text::json) as r("subscriptionId" bigint, "lineId" bigint,
    position smallint, "productId" bigint, "productTitle" text, "variantId" bigint,
    "variantTitle" text, quantity int, "currentPrice" numeric)`;

const insertEvents = (tx: Transaction, shopId: number, events: string) => tx`
  insert into status_events (shop_id, subscription_id, position, at, from_status, to_status)
  select ${shopId}::bigint, "subscriptionId", position, at, "from", "to"
  from json_to_recordset(${events}::text::json) as r("subscriptionId" bigint,
    position smallint, at timestamptz, "from" text, "to" text)`;

/** Deletes those of the customers who have no subscription left. */
export async function deleteIdleCustomers(
  tx: Transaction,
  shopId: number,
  customerIds: readonly number[],
): Promise<void> {
  await tx`
    delete from customers c
    where c.shop_id = ${shopId}
      and c.customer_id = any (${arrayText(customerIds)}::text::bigint[])
      and not exists (
        select from subscriptions s where s.shop_id = c.shop_id and s.customer_id = c.customer_id)`;
}
