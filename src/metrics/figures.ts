import {
  type Ratio,
  add,
  shopDigitsOf,
  multiply,
  parseDecimal,
  roundHalfAway,
  roundedShare,
  subtract,
} from '../money.ts';
import { monthlyFactor } from '../intervals.ts';
import type { ActiveValue } from './facts.ts';
import type { MetricsRow } from './row.ts';

/** The fifteen figures of a shop and period (names say 30d, the default); money in its currency, rates from 0 to 1. */
export interface Summary {
  readonly activeSubscribers: number;
  readonly pausedSubscribers: number;
  readonly mrr: number;
  readonly revenue30d: number;
  readonly newSubscribers30d: number;
  readonly cancelled30d: number;
  readonly churnRate30d: number;
  readonly saveRate: number;
  readonly cancelSessions30d: number;
  readonly dunningActive: number;
  readonly recoveryRate: number;
  readonly failedPayments30d: number;
  readonly avgSubscriptionValue: number;
  readonly upcomingRenewals7d: number;
  readonly upcomingRenewalsValue7d: number;
  /** The end of the period, ISO 8601. */
  readonly generatedAt: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** What each figure that is a quotient is divided by. */
const divisors = {
  churnRate30d: 'atRisk',
  saveRate: 'sessionsEnded',
  recoveryRate: 'dunningClosed',
  avgSubscriptionValue: 'activeSubscriptions',
} as const satisfies Partial<Record<keyof Summary, keyof MetricsRow>>;
type Quotient = keyof typeof divisors;

/** The figures with nothing to divide by, or not known for a past period, which the summary gives as 0. */
export function undefinedFigures(
  row: Pick<MetricsRow, (typeof divisors)[Quotient] | 'upcomingRenewals'>,
): Set<string> {
  return new Set([
    ...Object.entries(divisors).flatMap(([figure, divisor]) => (row[divisor] === 0 ? figure : [])),
    ...(row.upcomingRenewals === undefined
      ? ['upcomingRenewals7d', 'upcomingRenewalsValue7d']
      : []),
  ]);
}

const ratioDigits = 4;
export const zero: Ratio = { numerator: 0n, denominator: 1n };

/**
 * Computes the figures from exact counts and sums, each rounded once.
 * @param currency the shop's, ISO 4217
 * @param now the end of the period, epoch milliseconds
 */
export function toSummary(row: MetricsRow, currency: string, now: number): Summary {
  const minorDigits = shopDigitsOf(currency);
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  const total = row.activeValue.reduce((sum, group) => add(sum, parseDecimal(group.sum)), zero);

  return {
    activeSubscribers: row.activeSubscribers,
    pausedSubscribers: row.pausedSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    revenue30d: money(subtract(parseDecimal(row.paid), parseDecimal(row.refunded))),
    newSubscribers30d: row.newSubscribers,
    cancelled30d: row.cancelled,
    churnRate30d: share(row.churned, row.atRisk),
    saveRate: share(row.sessionsSaved, row.sessionsEnded),
    cancelSessions30d: row.sessions,
    dunningActive: row.dunningActive,
    recoveryRate: share(row.dunningRecovered, row.dunningClosed),
    failedPayments30d: row.failedPayments,
    avgSubscriptionValue:
      row.activeSubscriptions === 0
        ? 0
        : money(multiply(total, { numerator: 1n, denominator: BigInt(row.activeSubscriptions) })),
    upcomingRenewals7d: row.upcomingRenewals ?? 0,
    upcomingRenewalsValue7d: money(parseDecimal(row.upcomingRenewalsValue ?? '0')),
    generatedAt: new Date(now).toISOString(),
    currency,
  };
}

/** The exact monthly value of active subscriptions. */
export function monthlyValue(groups: readonly ActiveValue[]): Ratio {
  return groups.reduce(
    (sum, group) =>
      add(sum, multiply(parseDecimal(group.sum), monthlyFactor(group.unit, group.count))),
    zero,
  );
}

function share(part: number, whole: number): number {
  return roundedShare(BigInt(part), BigInt(whole), ratioDigits);
}
