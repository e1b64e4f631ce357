import type {
  DetectedReason,
  FailureKind,
  OfferType,
  PaymentStatus,
  SessionOutcome,
  SubscriptionStatus,
} from '../../vocabulary.ts';
import { type Sql, answerOf } from '../database.ts';

/** What of each kind is read at most: the newest. */
export const courseLimit = 50;

export interface Standing {
  readonly status: SubscriptionStatus;
  /** When it became so. */
  readonly statusSince: Date;
  /** The end of the last period that was paid for; null where the source never gave one. */
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
  /** A decimal, in the shop's currency. */
  readonly amount: string;
  readonly processedAt: Date;
  /** All of its refunds together, a decimal, and the last of them; null where there are none. */
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

export interface Course {
  readonly standing: Standing | undefined;
  /** When the open dunning case began. */
  readonly dunningSince: Date | undefined;
  /** Newest first, as all that follow. */
  readonly changes: readonly StatusChange[];
  readonly payments: readonly PaymentRow[];
  readonly sessions: readonly SessionRow[];
}

/**
 * What has become of a subscription, of each kind the newest.
 * @param now epoch milliseconds; of dunning, what comes later is not yet seen
 */
export async function findCourse(
  sql: Sql,
  shopId: number,
  subscriptionId: number,
  now: number,
): Promise<Course> {
  const at = new Date(now).toISOString();
  const [[standing], [dunning], changes, payments, sessions] = await Promise.all([
    answerOf(sql<Standing[]>`
      select status, status_since as "statusSince", paid_through_at as "paidThroughAt"
      from subscriptions where shop_id = ${shopId} and subscription_id = ${subscriptionId}`),
    answerOf(sql<{ openedAt: Date }[]>`
      select opened_at as "openedAt" from dunning_cases
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        and opened_at <= ${at} and (closed_at is null or closed_at > ${at})
      order by position desc limit 1`),
    answerOf(sql<StatusChange[]>`
      select at, to_status as "to" from status_events
      where shop_id = ${shopId} and subscription_id = ${subscriptionId}
      order by position desc limit ${courseLimit}`),
    answerOf(sql<PaymentRow[]>`
      select p.payment_id as id, p.cycle, p.status, p.failure_kind as "failureKind", p.amount,
        p.processed_at as "processedAt", r.refunded, r."refundedAt"
      from (select * from payments
        where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        order by processed_at desc, payment_id desc limit ${courseLimit}) p,
        lateral (select sum(amount) as refunded, max(refunded_at) as "refundedAt" from refunds
          where shop_id = ${shopId} and payment_id = p.payment_id) r
      order by p.processed_at desc, p.payment_id desc`),
    // `offset 0` keeps the planner from going through all of the shop's sessions in their order.
    answerOf(sql<SessionRow[]>`
      select session_id as id, detected_reason as reason, offer_type as offer, outcome,
        created_at as "createdAt"
      from (select * from cancellation_sessions
        where shop_id = ${shopId} and subscription_id = ${subscriptionId} offset 0) s
      order by created_at desc, session_id desc limit ${courseLimit}`),
  ]);
  return { standing, dunningSince: dunning?.openedAt, changes, payments, sessions };
}
