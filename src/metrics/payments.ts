import { type Ratio } from '../money.ts';
import { revenueOf } from './figures.ts';
import { listRowSums, type Part } from './ledger.ts';
import { isoDay, type Period, day } from './bounds.ts';
import { isoTime } from '../iso-time.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type Position, type TimeOrder, orderOf } from '../store/records/listing.ts';
import { type SegmentAt, subscriptionsOf, recordsOf } from './segments/subscriptions.ts';
import { lookup } from '../store/lookup.ts';

/** What a list of payments has: successful payments, refunds, and the last failed payment of each billing cycle. */
export const paymentKinds = ['paid', 'refunded', 'failed'] as const;
export type PaymentKind = (typeof paymentKinds)[number];

export interface PaymentRow {
  readonly kind: PaymentKind;
  /** Of the payment, or of the refund. */
  readonly id: number;
  readonly subscriptionId: number;
  readonly customerId: number;
  readonly planName: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** A decimal. */
  readonly amount: string;
  /** Of a failed payment; null if the source gave none. */
  readonly failureCode: string | null;
  /** Where it is in the order: when its billing cycle failed last on that day, or when it happened. */
  readonly placedAt: number;
}

export interface PaymentWindow extends Period {
  /** A cycle counts at its last failure before this, which is the end of the window or later. Epoch milliseconds. */
  readonly seen: number;
}

export interface PaymentsPage {
  readonly kinds: readonly PaymentKind[];
  /** The newest first, if it is left out. */
  readonly order?: TimeOrder | undefined;
  /** The kind of the last row of the page before, when it was placed, as `createdAt`, and its id. */
  readonly after: (Position & { readonly kind: PaymentKind }) | undefined;
  readonly limit: number;
}

/**
 * The payments and refunds behind the revenue and the failed payments of a window, of a shop or a segment of its
 * subscriptions, by time.
 */
export function listPayments(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, seen }: PaymentWindow,
  { kinds, order = 'newest', after, limit }: PaymentsPage,
  segment?: SegmentAt,
): Promise<PaymentRow[]> {
  const { than, thanOrAt, by } = orderOf(sql, order);
  const [since, end, seenAt] = [from, until, seen].map(isoTime) as [string, string, string];
  // The failures of the last day count as of its end.
  const lastDay = isoTime(Math.ceil(until / day) * day);
  const at = after && isoTime(after.createdAt);
  const notBefore = (time: Part) => (at === undefined ? sql`true` : sql`${time} ${thanOrAt} ${at}`);
  /** The rows of a kind after the last one of the page before. */
  const beyond = (kind: PaymentKind, time: Part, id: Part) =>
    after
      ? sql`${notBefore(time)}
          and (${time}, ${kind}::text, ${id}) ${than} (${isoTime(after.createdAt)}, ${after.kind}::text, ${after.id})`
      : sql`true`;
  const failedAt = sql`failed_at`;
  const beyondOf = {
    paid: beyond('paid', sql`processed_at`, sql`payment_id`),
    refunded: beyond('refunded', sql`refunded_at`, sql`refund_id`),
    failed: beyond('failed', failedAt, sql`payment_id`),
  };
  const failed = sql`status = 'failed' and failure_kind is distinct from 'inventory'`;
  const ofCycle = sql`
    select p.*, c.failed_at from (
      select subscription_id, cycle, failed_at from failed_cycles
      where shop_id = ${shopId} and failed_at >= ${since} and failed_at < ${lastDay}
        and ${notBefore(failedAt)}
      order by failed_at ${by} offset 0
    ) c
    cross join lateral (
      select payment_id, subscription_id, processed_at, amount, failure_code from payments
      where shop_id = ${shopId} and ${failed} and processed_at < ${seenAt}
        and subscription_id between c.subscription_id and c.subscription_id and cycle = c.cycle
      order by subscription_id desc, cycle desc, processed_at desc, payment_id desc limit 1
    ) p
    -- One row of each cycle: that of the day on which it failed last.
    where metric_day(p.processed_at) = metric_day(c.failed_at)`;
  const ofSegmentCycle = sql`
    select distinct on (subscription_id, cycle) *, processed_at as failed_at
    from (${recordsOf(sql, shopId, 'payments', [since, seenAt], segment)}) payments
    where ${failed}
    order by subscription_id desc, cycle desc, processed_at desc, payment_id desc`;
  const parts = {
    paid: () => sql`
      select 'paid' as kind, payment_id as id, null::bigint as paid_for, subscription_id,
        processed_at as at, processed_at as placed_at, amount, null::text as failure_code
      from (${recordsOf(sql, shopId, 'payments', [since, end], segment)}) payments
      where status = 'succeeded' and ${beyondOf.paid}
      order by processed_at ${by}, payment_id ${by} limit ${limit}`,
    refunded: () => sql`
      select 'refunded', refund_id, payment_id, null::bigint, refunded_at, refunded_at, amount, null::text
      from (${recordsOf(sql, shopId, 'refunds', [since, end], segment)}) refunds
      where ${beyondOf.refunded}
      order by refunded_at ${by}, refund_id ${by} limit ${limit}`,
    failed: () => sql`
      select 'failed', payment_id, null::bigint, subscription_id, processed_at, failed_at, amount, failure_code
      from (${segment ? ofSegmentCycle : ofCycle}) cycles
      where processed_at >= ${since} and processed_at < ${end}
        and ${beyondOf.failed}
      order by failed_at ${by}, payment_id ${by} limit ${limit}`,
  };
  const rows = kinds
    .map((kind) => sql`(${parts[kind]()})`)
    .reduce((all, each) => sql`${all} union all ${each}`);
  const inSegment = segment
    ? sql`with in_segment as (${subscriptionsOf(sql, shopId, segment)})`
    : sql``;
  return sql<PaymentRow[]>`
    ${inSegment}
    select r.kind, r.id, s.subscription_id as "subscriptionId", s.customer_id as "customerId",
      p.name as "planName", (date_part('epoch', r.at) * 1000)::bigint as at, r.amount,
      r.failure_code as "failureCode", (date_part('epoch', r.placed_at) * 1000)::bigint as "placedAt"
    from (${rows}) r (kind, id, paid_for, subscription_id, at, placed_at, amount, failure_code)
    left join ${lookup(sql, shopId, 'payments', 'payment_id', 'r.paid_for')} paid on true
    cross join lateral (
      select subscription_id, customer_id, plan_id from subscriptions
      where shop_id = ${shopId} and subscription_id between coalesce(r.subscription_id, paid.subscription_id)
        and coalesce(r.subscription_id, paid.subscription_id)
      order by subscription_id limit 1
    ) s
    cross join lateral (
      select name from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p
    order by r.placed_at ${by}, r.kind ${by}, r.id ${by}
    limit ${limit}`;
}

/** What was paid on a UTC day, less what was refunded on it. */
export interface RevenueDay {
  /** For example 2026-11-20. */
  readonly day: string;
  readonly revenue: Ratio;
}

/** The exact revenue of a period by UTC day; days without payments and refunds have no row. */
export async function listRevenueDays(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
): Promise<RevenueDay[]> {
  const sums = await listRowSums(sql, shopId, period, ['payments', 'refunds']);
  return [...Map.groupBy(sums, (each) => each.day)].map(([at, ofDay]) => {
    const amountOf = (name: string) => ofDay.find(({ fact }) => fact === name)?.amount ?? '0';
    const revenue = revenueOf({ paid: amountOf('paid'), refunded: amountOf('refunded') });
    return { day: isoDay(at), revenue };
  });
}
