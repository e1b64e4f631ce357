import type {
  DetectedReason,
  FailureKind,
  OfferType,
  PaymentStatus,
  SessionOutcome,
  SubscriptionStatus,
} from '../../vocabulary.ts';
import { type Sql, withTimeout } from '../database.ts';

/** Only this many of each kind are read, newest first. */
export const timelineLimit = 50;

export interface Standing {
  readonly status: SubscriptionStatus;
  /** When it got this status. */
  readonly statusSince: Date;
  /** End of the last paid period; null if the source never supplied it. */
  readonly paidThroughAt: Date | null;
}

interface StatusChange {
  readonly at: Date;
  readonly to: SubscriptionStatus;
}

export interface PaymentRow {
  readonly id: number;
  readonly cycle: string;
  readonly status: PaymentStatus;
  readonly failureKind: FailureKind | null;
  readonly failureCode: string | null;
  /** A decimal, in the shop's currency. */
  readonly amount: string;
  readonly processedAt: Date;
  /** The sum of its refunds, a decimal, and the time of the last; null without refunds. */
  readonly refunded: string | null;
  readonly refundedAt: Date | null;
}

export interface SessionRow {
  readonly id: number;
  readonly reason: DetectedReason;
  readonly offer: OfferType | null;
  readonly outcome: SessionOutcome | null;
  readonly createdAt: Date;
}

export interface Timeline {
  readonly standing: Standing | undefined;
  /** When the open dunning case started. */
  readonly dunningSince: Date | undefined;
  /** Newest first, like the following lists. */
  readonly changes: readonly StatusChange[];
  readonly payments: readonly PaymentRow[];
  readonly sessions: readonly SessionRow[];
}

/**
 * The history of a subscription: the newest entries of each kind.
 * @param now epoch milliseconds; ignores later changes of dunning
 */
export async function findTimeline(
  sql: Sql,
  shopId: number,
  subscriptionId: number,
  now: number,
): Promise<Timeline> {
  const at = new Date(now).toISOString();
  const [[standing], [dunning], changes, payments, sessions] = await Promise.all([
    withTimeout(sql<Standing[]>`
      select status, status_since as "statusSince", paid_through_at as "paidThroughAt"
      from subscriptions
      where shop_id = ${shopId} and subscription_id between ${subscriptionId} and ${subscriptionId}
      order by subscription_id limit 1`),
    withTimeout(sql<{ openedAt: Date }[]>`
      select opened_at as "openedAt" from dunning_cases
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        and opened_at <= ${at} and (closed_at is null or closed_at > ${at})
      order by position desc limit 1`),
    withTimeout(sql<StatusChange[]>`
      select at, to_status as "to" from status_events
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}
      order by position desc limit ${timelineLimit}`),
    withTimeout(sql<PaymentRow[]>`
      select p.payment_id as id, p.cycle, p.status, p.failure_kind as "failureKind",
        p.failure_code as "failureCode", p.amount,
        p.processed_at as "processedAt", r.refunded, r."refundedAt"
      from (select * from payments
        where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        order by processed_at desc, payment_id desc limit ${timelineLimit}) p,
        lateral (select sum(amount) as refunded, max(refunded_at) as "refundedAt"
          from (select * from refunds
            where shop_id = ${shopId} and payment_id between p.payment_id and p.payment_id
            order by payment_id offset 0) each_refund) r
      order by p.processed_at desc, p.payment_id desc`),
    withTimeout(sql<SessionRow[]>`
      select session_id as id, detected_reason as reason, offer_type as offer, outcome,
        created_at as "createdAt"
      from (select * from cancellation_sessions
        where shop_id = ${shopId} and subscription_id between ${subscriptionId} and ${subscriptionId}
        order by subscription_id offset 0) s
      order by created_at desc, session_id desc limit ${timelineLimit}`),
  ]);
  return { standing, dunningSince: dunning?.openedAt, changes, payments, sessions };
}
