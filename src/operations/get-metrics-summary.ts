import { z } from 'zod';
import {
  type Ratio,
  add,
  shopDigitsOf,
  multiply,
  parseDecimal,
  roundHalfAway,
  roundedShare,
} from '../money.ts';
import type { ActiveValue, MetricsRow } from '../store/metrics-row.ts';
import { summariseMetrics } from '../store/metrics.ts';
import type { IntervalUnit } from '../vocabulary.ts';
import { defineOperation } from './define.ts';
import { type metricsSummary, metricsSummaryResponse } from './shapes.ts';

const ratioDigits = 4;
const zero: Ratio = { numerator: 0n, denominator: 1n };

export const getMetricsSummary = defineOperation({
  tool: 'get_metrics_summary',
  path: '/metrics/summary',
  scope: 'read:metrics',
  title: 'Metrics summary',
  description: 'How retention is doing: fifteen aggregate figures of the shop at this instant.',
  toolDescription:
    "How retention is doing, in one call without arguments: subscribers, MRR, 30-day revenue, churn, cancel-flow save rate, dunning and recovery, renewals of the next 7 days. Money is in the shop's currency, named in currency; rates are fractions from 0 to 1, windows are rolling 24-hour days up to generatedAt. Prefer this over counting listed subscriptions.",
  input: z.strictObject({}),
  output: metricsSummaryResponse,
  fails: [],
  async run({ caller, store, now }) {
    const row = await summariseMetrics(store.analyse, caller.shopId, now);
    return { summary: toSummary(row, caller.currency, now) };
  },
});

/**
 * The figures from the exact counts and sums, each rounded once.
 * @param currency the shop's, ISO 4217
 * @param now epoch milliseconds
 */
export function toSummary(
  row: MetricsRow,
  currency: string,
  now: number,
): z.input<typeof metricsSummary> {
  const minorDigits = shopDigitsOf(currency);
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  const total = row.activeValue.reduce((sum, group) => add(sum, parseDecimal(group.sum)), zero);
  const refunded = multiply(parseDecimal(row.refunded), { numerator: -1n, denominator: 1n });

  return {
    activeSubscribers: row.activeSubscribers,
    pausedSubscribers: row.pausedSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    revenue30d: money(add(parseDecimal(row.paid), refunded)),
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
    upcomingRenewals7d: row.upcomingRenewals,
    upcomingRenewalsValue7d: money(parseDecimal(row.upcomingRenewalsValue)),
    generatedAt: new Date(now).toISOString(),
    currency,
  };
}

/** What active subscriptions are worth per month, exactly. */
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

/** What one cycle is worth per month, over the length of its interval. */
const monthlyFactors: Readonly<Record<IntervalUnit, Ratio>> = {
  day: { numerator: 365n, denominator: 12n },
  week: { numerator: 365n, denominator: 84n },
  month: { numerator: 1n, denominator: 1n },
  year: { numerator: 1n, denominator: 12n },
};

function monthlyFactor(unit: IntervalUnit, count: number): Ratio {
  return multiply(monthlyFactors[unit], { numerator: 1n, denominator: BigInt(count) });
}
