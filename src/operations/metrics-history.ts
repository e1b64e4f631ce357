import { type Ratio, add, minorDigitsOf, multiply, parseDecimal, roundHalfAway } from '../money.ts';
import { listDays } from '../store/metrics-history.ts';
import type { ReadConnections } from '../store/read-connections.ts';
import { monthlyValue } from './get-metrics-summary.ts';

/** What is known of one UTC day once it has ended. Money is in the shop's currency. */
export interface DayOfHistory {
  /** As in 2026-11-20. */
  readonly day: string;
  /** Customers with at least one active subscription at its end. */
  readonly activeSubscribers: number;
  /** At its end, by the prices and intervals that the subscriptions have now. */
  readonly mrr: number;
  readonly newSubscribers: number;
  /** Subscriptions that were cancelled that day, and still so at its end. */
  readonly cancelled: number;
  /** Payments that succeeded that day, less the refunds of that day. */
  readonly revenue: number;
  /** Cycles of which a payment failed that day, other than for lack of stock. */
  readonly failedPayments: number;
  /** Cancel-flow sessions begun that day, by what has come of them by now. */
  readonly sessions: {
    readonly saved: number;
    readonly cancelled: number;
    readonly abandoned: number;
    readonly inProgress: number;
  };
}

/**
 * The last UTC days that have ended, oldest first; at the same cost for a shop of any size.
 * @param now epoch milliseconds
 */
export async function listHistory(
  store: Pick<ReadConnections, 'analyse'>,
  shop: { readonly id: number; readonly currency: string },
  days: number,
  now: number,
): Promise<DayOfHistory[]> {
  const minorDigits = minorDigitsOf(shop.currency) ?? 2;
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  const rows = await listDays(store.analyse, shop.id, days, now);
  return rows.map((row) => ({
    day: new Date(row.day).toISOString().slice(0, 10),
    activeSubscribers: row.activeSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    newSubscribers: row.newSubscribers,
    cancelled: row.cancelled,
    revenue: money(add(parseDecimal(row.paid), negative(parseDecimal(row.refunded)))),
    failedPayments: row.failedPayments,
    sessions: {
      saved: row.sessionsSaved,
      cancelled: row.sessionsCancelled,
      abandoned: row.sessionsAbandoned,
      inProgress: row.sessionsOpen,
    },
  }));
}

function negative(value: Ratio): Ratio {
  return multiply(value, { numerator: -1n, denominator: 1n });
}
