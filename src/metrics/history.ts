import { type Ratio, shopDigitsOf, parseDecimal, roundHalfAway, subtract } from '../money.ts';
import { type DayRow, listDays } from './history-rows.ts';
import type { Period } from './bounds.ts';
import type { ReadConnections } from '../store/connections/read-connections.ts';
import { monthlyValue } from './facts.ts';

/** The figures of a UTC day of a period, as seen from the period's end. Money is in the shop's currency. */
export interface DayOfHistory {
  /** For example 2026-11-20. */
  readonly day: string;
  /** Customers with at least one active subscription at the end of the day. */
  readonly activeSubscribers: number;
  /** At the end of the day, at the subscriptions' current prices and intervals. */
  readonly mrr: number;
  readonly newSubscribers: number;
  /** Subscriptions cancelled that day and still cancelled at the end of the period. */
  readonly cancelled: number;
  /** Payments that succeeded that day, minus that day's refunds. */
  readonly revenue: number;
  /** Cycles whose last failed payment of the period, except for lack of stock, was that day. */
  readonly failedPayments: number;
  /** Dunning cases that a payment closed that day. */
  readonly recoveredPayments: number;
  /** Cancel-flow sessions started that day, by their outcome so far. */
  readonly sessions: {
    readonly saved: number;
    readonly cancelled: number;
    readonly abandoned: number;
    readonly inProgress: number;
  };
}

/**
 * The UTC days of a period, oldest first; the first and the last one end with the period if it does not hold all of
 * them. Of new subscribers, cancelled, revenue, failed and recovered payments and sessions, the days add up to the
 * period's figures (revenue before rounding). The state at the end of a day leaves out what happens exactly then.
 */
export async function listHistory(
  store: Pick<ReadConnections, 'analyse'>,
  shop: { readonly id: number; readonly currency: string },
  period: Period,
): Promise<DayOfHistory[]> {
  return toHistory(await listDays(store.analyse, shop.id, period), shop.currency);
}

/** Rounds each amount once. @param currency the shop's, ISO 4217 */
export function toHistory(rows: readonly DayRow[], currency: string): DayOfHistory[] {
  const minorDigits = shopDigitsOf(currency);
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  return rows.map((row) => ({
    day: isoDay(row.day),
    activeSubscribers: row.activeSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    newSubscribers: row.newSubscribers,
    cancelled: row.cancelled,
    revenue: money(subtract(parseDecimal(row.paid), parseDecimal(row.refunded))),
    failedPayments: row.failedPayments,
    recoveredPayments: row.dunningRecovered,
    sessions: {
      saved: row.sessionsSaved,
      cancelled: row.sessionsCancelled,
      abandoned: row.sessionsAbandoned,
      inProgress: row.sessionsOpen,
    },
  }));
}

function isoDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
