import type { Transaction } from '../database.ts';
import type { Judged } from './verdict.ts';

export interface JudgedPayment extends Judged {
  /** Subscription of the stored record, if there was one. */
  readonly previousSubscriptionId: number | null;
}

/**
 * A payment waits if its subscription is not stored.
 * @param records a JSON array of payment rows from `ingest`; ids must be unique
 */
export async function upsertPayments(
  tx: Transaction,
  shopId: number,
  records: string,
): Promise<JudgedPayment[]> {
  return tx<JudgedPayment[]>`
    with incoming as materialized (
      select * from json_to_recordset(${records}::text::json) as r(
        id bigint, "subscriptionId" bigint, cycle text, status text, "failureKind" text,
        amount numeric, "processedAt" timestamptz, "updatedAt" timestamptz, keeps text, digest uuid)
    ),
    judged as materialized (
      select i.*, s.subscription_id as "previousSubscriptionId", s.amount as "previousAmount", case
          when i."updatedAt" < s.updated_at then 'stale'
          when i.digest = s.digest then 'unchanged'
          when parent.subscription_id is null then 'waiting'
          when s.payment_id is null then 'stored'
          else 'replaced'
        end as verdict
      from incoming i
      left join lateral (
        select * from payments where shop_id = ${shopId} and payment_id = i.id limit 1
      ) s on true
      left join lateral (
        select subscription_id from subscriptions
        where shop_id = ${shopId} and subscription_id = i."subscriptionId" limit 1
      ) parent on true
    ),
    written as (
      insert into payments (shop_id, payment_id, subscription_id, cycle, status, failure_kind,
        amount, processed_at, updated_at, digest)
      select ${shopId}, id, "subscriptionId", cycle, status, "failureKind",
        case when keeps = 'amount' then coalesce("previousAmount", amount) else amount end,
        "processedAt", "updatedAt", digest
      from judged where verdict in ('stored', 'replaced')
      on conflict (shop_id, payment_id) do update set
        subscription_id = excluded.subscription_id, cycle = excluded.cycle,
        status = excluded.status, failure_kind = excluded.failure_kind, amount = excluded.amount,
        processed_at = excluded.processed_at, updated_at = excluded.updated_at,
        digest = excluded.digest
    )
    select id, verdict, "previousSubscriptionId" from judged`;
}

/**
 * A refund waits if its payment is not stored.
 * @param records a JSON array of refund rows from `ingest`; ids must be unique
 */
export async function upsertRefunds(
  tx: Transaction,
  shopId: number,
  records: string,
): Promise<Judged[]> {
  return tx<Judged[]>`
    with incoming as materialized (
      select * from json_to_recordset(${records}::text::json) as r(
        id bigint, "paymentId" bigint, amount numeric, "refundedAt" timestamptz,
        "updatedAt" timestamptz, digest uuid)
    ),
    judged as materialized (
      select i.*, case
          when i."updatedAt" < s.updated_at then 'stale'
          when i.digest = s.digest then 'unchanged'
          when parent.payment_id is null then 'waiting'
          when s.refund_id is null then 'stored'
          else 'replaced'
        end as verdict
      from incoming i
      left join lateral (
        select * from refunds where shop_id = ${shopId} and refund_id = i.id limit 1
      ) s on true
      left join lateral (
        select payment_id from payments
        where shop_id = ${shopId} and payment_id = i."paymentId" limit 1
      ) parent on true
    ),
    written as (
      insert into refunds (shop_id, refund_id, payment_id, amount, refunded_at, updated_at, digest)
      select ${shopId}, id, "paymentId", amount, "refundedAt", "updatedAt", digest
      from judged where verdict in ('stored', 'replaced')
      on conflict (shop_id, refund_id) do update set
        payment_id = excluded.payment_id, amount = excluded.amount,
        refunded_at = excluded.refunded_at, updated_at = excluded.updated_at,
        digest = excluded.digest
    )
    select id, verdict from judged`;
}
