import { type Ratio, add, shopDigitsOf, multiply, parseDecimal, roundHalfAway } from '../money.ts';
import { listDays } from './history-rows.ts';
import { listRenewals } from './renewals.ts';
import { day } from './bounds.ts';
import type { ReadConnections } from '../store/connections/read-connections.ts';
import { monthlyValue } from './figures.ts';

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
  /** Dunning cases that a payment closed that day. */
  readonly recoveredPayments: number;
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
  const minorDigits = shopDigitsOf(shop.currency);
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  const rows = await listDays(store.analyse, shop.id, days, now);
  return rows.map((row) => ({
    day: isoDay(row.day),
    activeSubscribers: row.activeSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    newSubscribers: row.newSubscribers,
    cancelled: row.cancelled,
    revenue: money(add(parseDecimal(row.paid), negative(parseDecimal(row.refunded)))),
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

/** What is billed on one UTC day to come. Money is in the shop's currency. */
export interface DayOfRenewals {
  /** As in 2026-11-20. */
  readonly day: string;
  /** Active subscriptions whose next billing falls on it. */
  readonly renewals: number;
  /** Their current prices together. */
  readonly value: number;
}

/**
 * The rest of this UTC day, and the days that follow; what is overdue is not upcoming.
 * @param days how many in all, today included
 * @param now epoch milliseconds
 */
export async function listUpcoming(
  store: Pick<ReadConnections, 'analyse'>,
  shop: { readonly id: number; readonly currency: string },
  days: number,
  now: number,
): Promise<DayOfRenewals[]> {
  const minorDigits = shopDigitsOf(shop.currency);
  const rows = await listRenewals(store.analyse, shop.id, days, now);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const today = Math.floor(now / day) * day;
  return Array.from({ length: days }, (_, index) => {
    const at = today + index * day;
    const row = byDay.get(at);
    return {
      day: isoDay(at),
      renewals: row?.renewals ?? 0,
      value: roundHalfAway(parseDecimal(row?.value ?? '0'), minorDigits),
    };
  });
}

function isoDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function negative(value: Ratio): Ratio {
  return multiply(value, { numerator: -1n, denominator: 1n });
}
