import { unitsOf } from '../money.ts';
import {
  type ActiveValue,
  type Fact,
  type FactSum,
  type IntervalText,
  activeValuesOf,
  isActiveFact,
  partsOf,
  priceDecimals,
} from './facts.ts';

/** The counts and exact sums behind the summary; sums are decimals as text. */
export interface MetricsRow {
  readonly activeSubscribers: number;
  readonly pausedSubscribers: number;
  /** Price sums of active subscriptions, whose total by billing interval gives the monthly value. */
  readonly activeValue: readonly ActiveValue[];
  readonly activeSubscriptions: number;
  readonly paid: string;
  readonly refunded: string;
  readonly newSubscribers: number;
  readonly cancelled: number;
  readonly atRisk: number;
  readonly churned: number;
  readonly sessions: number;
  readonly sessionsSaved: number;
  readonly sessionsEnded: number;
  readonly dunningActive: number;
  readonly dunningRecovered: number;
  readonly dunningClosed: number;
  readonly failedPayments: number;
  /** Undefined unless the period ends now. */
  readonly upcomingRenewals: number | undefined;
  readonly upcomingRenewalsValue: string | undefined;
}

/**
 * Computes each figure's inputs from the sums of facts.
 * @param isCurrent whether the period ends now
 */
export function rowOf(sums: readonly FactSum[], isCurrent: boolean): MetricsRow {
  const byFact = new Map<Fact, FactSum>();
  // Summed by interval first: most sums are of a movement each, and a fraction costs more than a sum.
  const values = new Map<IntervalText, bigint>();
  let activeSubscriptions = 0;
  for (const sum of sums) {
    if (!isActiveFact(sum.fact)) {
      byFact.set(sum.fact, sum);
      continue;
    }
    const { interval } = partsOf(sum.fact);
    values.set(interval, (values.get(interval) ?? 0n) + unitsOf(sum.amount, priceDecimals));
    activeSubscriptions += sum.count;
  }
  const count = (...facts: readonly Fact[]) =>
    facts.reduce((total, fact) => total + (byFact.get(fact)?.count ?? 0), 0);
  const amount = (fact: Fact) => byFact.get(fact)?.amount ?? '0';
  const ended = ['session_saved', 'session_cancelled', 'session_abandoned'] as const;

  return {
    activeSubscribers: count('subscriber'),
    pausedSubscribers: count('paused_subscriber'),
    activeValue: activeValuesOf(values),
    activeSubscriptions,
    paid: amount('paid'),
    refunded: amount('refunded'),
    newSubscribers: count('new_subscriber'),
    cancelled: count('cancelled'),
    // Subscriptions that are live, or that ended within the window.
    atRisk: count('live', 'churned', 'expired', 'gone'),
    churned: count('churned'),
    sessions: count(...ended, 'session_open'),
    sessionsSaved: count('session_saved'),
    sessionsEnded: count(...ended),
    dunningActive: count('dunning_open'),
    dunningRecovered: count('dunning_recovered'),
    dunningClosed: count('dunning_recovered', 'dunning_lost'),
    failedPayments: count('cycle_failed'),
    upcomingRenewals: isCurrent ? count('renewal') : undefined,
    upcomingRenewalsValue: isCurrent ? amount('renewal') : undefined,
  };
}
