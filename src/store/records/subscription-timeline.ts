import { type StoredRecord, selectList } from '../../records/columns.ts';
import type { SubscriptionStatus } from '../../vocabulary.ts';
import { type Sql, withTimeout } from '../database.ts';
import { each, lookup } from '../lookup.ts';
import type { Interval } from './subscriptions.ts';

/** Only this many of each kind are read, newest first. */
export const timelineLimit = 50;

export interface Standing extends StoredRecord<'subscription'> {
  /** When it got this status; null if it is unknown. */
  readonly statusSince: Date | null;
}

interface StatusChange {
  readonly at: Date;
  readonly to: SubscriptionStatus;
}

export interface PaymentRow extends StoredRecord<'payment'> {
  /** The sum of its refunds, a decimal, and the time of the last; null without refunds. */
  readonly refunded: string | null;
  readonly refundedAt: Date | null;
}

/** The billing interval of a line that has one of its own. */
interface LineInterval extends Interval {
  readonly lineId: number;
}

export type SessionRow = StoredRecord<'cancellation'>;

export interface Timeline {
  readonly standing: Standing | undefined;
  /** When the open dunning case started. */
  readonly dunningSince: Date | undefined;
  /** Newest first, like the following lists. */
  readonly changes: readonly StatusChange[];
  readonly payments: readonly PaymentRow[];
  readonly sessions: readonly SessionRow[];
  readonly lineIntervals: readonly LineInterval[];
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
  const [[standing], [dunning], changes, payments, sessions, lineIntervals] = await Promise.all([
    withTimeout(sql<Standing[]>`
      select ${sql.unsafe(selectList('subscription', 's'))}, s.status_since as "statusSince"
      from ${lookup(sql, shopId, 'subscriptions', 'subscription_id', subscriptionId)} s`),
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
      select ${sql.unsafe(selectList('payment', 'p'))}, r.refunded, r."refundedAt"
      from (select * from payments
        where shop_id = ${shopId} and subscription_id = ${subscriptionId}
        order by processed_at desc, payment_id desc limit ${timelineLimit}) p,
        lateral (select sum(amount) as refunded, max(refunded_at) as "refundedAt"
          from ${each(sql, shopId, 'refunds', 'payment_id', 'p.payment_id')} refund) r
      order by p.processed_at desc, p.payment_id desc`),
    withTimeout(sql<SessionRow[]>`
      select ${sql.unsafe(selectList('cancellation', 's'))}
      from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', subscriptionId)} s
      order by created_at desc, session_id desc limit ${timelineLimit}`),
    withTimeout(sql<LineInterval[]>`
      select line_id as "lineId", interval_unit as unit, interval_count as count
      from subscription_lines
      where shop_id = ${shopId} and subscription_id = ${subscriptionId} and interval_unit is not null
      order by line_id`),
  ]);
  return {
    standing,
    dunningSince: dunning?.openedAt,
    changes,
    payments,
    sessions,
    lineIntervals,
  };
}
