import { isoTime } from '../iso-time.ts';
import { type Ratio, add, parseDecimal, roundHalfAway, shopDigitsOf, subtract } from '../money.ts';
import type { Count, MetricsRow } from './facts.ts';
import { monthlyValue } from '../mrr.ts';

/** What is said of a figure of the summary; the figures themselves are listed below. */
interface Entry {
  /** For owners. */
  readonly name: string;
  readonly format: 'count' | 'money' | 'share';
  /** From exact counts and sums. Undefined if there is nothing to divide by, or if it is not known for a past period. */
  readonly value: (row: MetricsRow) => number | Ratio | undefined;
  /** What it is a share of; of a count, what it has to be seen against. */
  readonly basis?: Basis;
  /** For callers, about the last 30 days. */
  readonly rule: string;
  /** For owners, about any period; shown behind its “?”. */
  readonly definition: string;
  /** The page of the rows that it counts, below the shop’s. */
  readonly rows: string;
  /** The filter of that page. */
  readonly filter?: Readonly<Record<string, string>>;
  /** What it says of the period: what held at its end, or what happened in it. Absent if it is about the future. */
  readonly comparison?: 'instant' | 'window';
  /** Absent if neither direction is better. */
  readonly betterWhen?: 'higher' | 'lower';
  /** The count of those that came, of what holds at an instant. */
  readonly arrivals?: 'newSubscribers30d' | 'failedPayments30d';
  /** Why it is not known, in four words. */
  readonly undefinedBecause?: string;
  /** The daily value for its line. */
  readonly byDay?: (day: DayOfHistory & { readonly churned: number }) => number;
  /** Made-up values: of the API's example, and of the overview of a shop without data, before and now. */
  readonly examples: Readonly<Record<'api' | 'before' | 'now', number>>;
}

export const revenueOf = ({ paid, refunded }: Pick<MetricsRow, 'paid' | 'refunded'>): Ratio =>
  subtract(parseDecimal(paid), parseDecimal(refunded));

export type Basis = 'atRisk' | 'sessionsEnded' | 'dunningClosed' | 'charged';

const count = (name: Count | 'upcomingRenewals') =>
  ({ format: 'count', value: (row: MetricsRow) => row[name] }) as const;

const money = (value: Entry['value']) => ({ format: 'money', value }) as const;

const share = (part: 'churned' | 'sessionsSaved' | 'dunningRecovered', basis: Basis) =>
  ({
    format: 'share',
    basis,
    value: (row: MetricsRow) =>
      quotient({ numerator: BigInt(row[part]), denominator: 1n }, row[basis]),
  }) as const;

const quotient = ({ numerator, denominator }: Ratio, divisor: number): Ratio | undefined =>
  divisor === 0 ? undefined : { numerator, denominator: denominator * BigInt(divisor) };

/** The figures, in the order in which the API has them. Names say 30d, the default period. */
const entries = {
  activeSubscribers: {
    name: 'Active subscribers',
    ...count('activeSubscribers'),
    rule: 'Customers with at least one active subscription.',
    definition:
      'Customers with at least one active subscription at the end of the period, each counted once.',
    rows: '/subscriptions',
    filter: { figure: 'active' },
    comparison: 'instant',
    betterWhen: 'higher',
    arrivals: 'newSubscribers30d',
    byDay: (day) => day.activeSubscribers,
    examples: { api: 1284, before: 1164, now: 1248 },
  },
  pausedSubscribers: {
    name: 'Paused subscribers',
    ...count('pausedSubscribers'),
    rule: 'Customers with at least one paused subscription and no active one, also if it is unknown since when.',
    definition: 'Customers with a paused subscription and no active one, at the end of the period.',
    rows: '/subscriptions',
    filter: { figure: 'paused' },
    comparison: 'instant',
    examples: { api: 73, before: 61, now: 57 },
  },
  mrr: {
    name: 'Monthly recurring revenue',
    ...money(({ activeValue }) => monthlyValue(activeValue)),
    rule: 'Monthly recurring revenue: the sum of `price × quantity × factor` over the lines of active subscriptions whose trial is over. The factor for a billing interval of n units is `365/(12n)` for days, `365/(84n)` for weeks, `1/n` for months and `1/(12n)` for years; a line without one of its own has the interval of its subscription.',
    definition:
      'Monthly revenue from active subscriptions at the end of the period: price per cycle times cycles per month, and nothing before a trial ends. Past values are those of then.',
    rows: '/subscriptions',
    filter: { figure: 'mrr' },
    comparison: 'instant',
    betterWhen: 'higher',
    byDay: (day) => day.mrr,
    examples: { api: 46_918.4, before: 38_200, now: 41_500 },
  },
  revenue30d: {
    name: 'Revenue',
    ...money(revenueOf),
    rule: '`payments − refunds`: payments that succeeded in the last 30 days and refunds made in the last 30 days; can be negative.',
    definition:
      'Successful payments in the period, minus refunds in the same period. Can be negative.',
    rows: '/payments',
    comparison: 'window',
    betterWhen: 'higher',
    byDay: (day) => day.revenue,
    examples: { api: 48_275.15, before: 40_900, now: 43_700 },
  },
  newSubscribers30d: {
    name: 'New subscribers',
    ...count('newSubscribers'),
    rule: 'Customers whose first subscription ever was created in the last 30 days.',
    definition:
      'Customers whose first subscription ever started in the period. Returning customers do not count.',
    rows: '/subscriptions',
    filter: { figure: 'new' },
    comparison: 'window',
    betterWhen: 'higher',
    byDay: (day) => day.newSubscribers,
    examples: { api: 96, before: 121, now: 176 },
  },
  cancelled30d: {
    name: 'Cancellations',
    ...count('cancelled'),
    basis: 'atRisk',
    rule: 'Subscriptions that are cancelled now and became so in the last 30 days.',
    definition:
      'Subscriptions that were cancelled in the period and were still cancelled at its end. The churn page counts one that had failed before when it failed; changes of MRR count active ones only.',
    rows: '/subscriptions',
    filter: { figure: 'cancelled' },
    comparison: 'window',
    betterWhen: 'lower',
    byDay: (day) => day.cancelled,
    examples: { api: 58, before: 97, now: 84 },
  },
  churnRate30d: {
    name: 'Churn rate',
    ...share('churned', 'atRisk'),
    rule: '`lost / at risk`. At risk: subscriptions that were active or paused just before the last 30 days began, or became so within them (created or resumed). Lost: those of them that are cancelled or failed now and became so in the last 30 days. Expiry is a planned end, not churn.',
    definition:
      'Of the subscriptions that were active or paused when the period began or at any time in it, the share that was cancelled or failed. Planned expiry is not churn.',
    rows: '/churn',
    comparison: 'window',
    betterWhen: 'lower',
    undefinedBecause: 'No subscriptions to lose',
    byDay: (day) => day.churned,
    examples: { api: 0.0442, before: 0.0771, now: 0.0634 },
  },
  saveRate: {
    name: 'Save rate',
    ...share('sessionsSaved', 'sessionsEnded'),
    rule: '`saved / (saved + cancelled + abandoned)`, over cancel-flow sessions created in the last 30 days.',
    definition:
      'Saved sessions as a share of the cancel-flow sessions that started in the period and have ended.',
    rows: '/cancel-flow',
    comparison: 'window',
    betterWhen: 'higher',
    undefinedBecause: 'No session has ended',
    examples: { api: 0.3678, before: 0.2512, now: 0.3105 },
  },
  cancelSessions30d: {
    name: 'Cancel-flow sessions',
    ...count('sessions'),
    rule: 'Cancel-flow sessions created in the last 30 days, including those in progress.',
    definition: 'Cancel-flow sessions started in the period, including those in progress.',
    rows: '/cancel-flow/sessions',
    comparison: 'window',
    byDay: ({ sessions }) =>
      sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress,
    examples: { api: 92, before: 118, now: 111 },
  },
  dunningActive: {
    name: 'Outstanding payments',
    ...count('dunningActive'),
    rule: 'Subscriptions with an open dunning case. A failed payment opens one if none is open and the subscription has not ended (cancelled, expired or failed). A payment that succeeds closes it as recovered; the subscription becoming cancelled, expired or failed closes it as lost.',
    definition:
      'Active or paused subscriptions with a failed payment that had not been recovered at the end of the period.',
    rows: '/recovery/open',
    comparison: 'instant',
    betterWhen: 'lower',
    arrivals: 'failedPayments30d',
    examples: { api: 17, before: 24, now: 19 },
  },
  recoveryRate: {
    name: 'Recovery rate',
    ...share('dunningRecovered', 'dunningClosed'),
    rule: '`recovered / (recovered + lost)`, over dunning cases closed in the last 30 days.',
    definition:
      'Of the payment failures resolved in the period, the share that was paid in the end. Unresolved ones do not count.',
    rows: '/recovery',
    comparison: 'window',
    betterWhen: 'higher',
    undefinedBecause: 'No failure was resolved',
    examples: { api: 0.6364, before: 0.61, now: 0.68 },
  },
  failedPayments30d: {
    name: 'Failed payments',
    ...count('failedPayments'),
    basis: 'charged',
    rule: 'Billing cycles with at least one failed payment in the last 30 days; a cycle of a subscription counts once. Failures for lack of stock do not count, here or in dunning.',
    definition:
      'Billing cycles with a failed payment in the period; each cycle counts once. Failures due to missing stock do not count.',
    rows: '/payments',
    filter: { kind: 'failed' },
    comparison: 'window',
    betterWhen: 'lower',
    byDay: (day) => day.failedPayments,
    examples: { api: 41, before: 96, now: 58 },
  },
  avgSubscriptionValue: {
    name: 'Average subscription value',
    ...money(({ activeValue, trialValue, activeSubscriptions }) =>
      quotient(
        activeValue.reduce(
          (sum, group) => add(sum, parseDecimal(group.sum)),
          parseDecimal(trialValue),
        ),
        activeSubscriptions,
      ),
    ),
    rule: '`sum of currentPrice / number of subscriptions`, over active ones, in their trial or not; per billing cycle, not per month.',
    definition:
      'Average price per billing cycle of the subscriptions active at the end of the period, regardless of the interval, at the prices of then.',
    rows: '/subscriptions',
    filter: { figure: 'active' },
    comparison: 'instant',
    undefinedBecause: 'No active subscriptions then',
    examples: { api: 36.82, before: 34, now: 34 },
  },
  upcomingRenewals7d: {
    name: 'Renewals, next 7 days',
    ...count('upcomingRenewals'),
    rule: 'Active subscriptions whose `nextBillingDate` is in the next 7 days; an overdue one is not upcoming.',
    definition:
      'Active subscriptions to be billed in the next 7 days. Overdue ones do not count. Not known for the past, because earlier billing dates are not stored.',
    rows: '/revenue/renewals',
    undefinedBecause: 'Only known from today',
    examples: { api: 312, before: 268, now: 268 },
  },
  upcomingRenewalsValue7d: {
    name: 'Value of these renewals',
    ...money(({ upcomingRenewalsValue }) =>
      upcomingRenewalsValue === undefined ? undefined : parseDecimal(upcomingRenewalsValue),
    ),
    rule: 'Sum of `price × quantity` over the lines of those that are billed at their interval.',
    definition:
      'Total price of the subscriptions to be billed in the next 7 days, without lines that are billed at another interval. Not known for the past, because earlier billing dates are not stored.',
    rows: '/revenue/renewals',
    undefinedBecause: 'Only known from today',
    examples: { api: 11_487.6, before: 9_100, now: 9_100 },
  },
} as const satisfies Readonly<Record<string, Entry>>;

export type FigureName = keyof typeof entries;

export interface Figure extends Entry {
  readonly field: FigureName;
}

export const figures = Object.fromEntries(
  Object.entries(entries).map(([field, entry]) => [field, { field, ...entry }]),
) as Readonly<Record<FigureName, Figure>>;

/** In the order in which the API has them. */
export const summaryFigures: readonly Figure[] = Object.values(figures);

/** The figures of a shop and period; money in its currency, rates from 0 to 1. */
export type Summary = Readonly<Record<FigureName, number>> & {
  /** The end of the period, ISO 8601. */
  readonly generatedAt: string;
  /** ISO 4217. */
  readonly currency: string;
};

/** The made-up values of each figure. */
export function exampleFigures(of: keyof Entry['examples']): Record<FigureName, number> {
  const values = summaryFigures.map(({ field, examples }) => [field, examples[of]]);
  return Object.fromEntries(values) as Record<FigureName, number>;
}

/** Those that the summary gives as 0 because they have no value. */
export function undefinedFigures(row: MetricsRow): Set<string> {
  return new Set(
    summaryFigures.filter(({ value }) => value(row) === undefined).map(({ field }) => field),
  );
}

const ratioDigits = 4;

/**
 * Rounds each figure once.
 * @param currency the shop's, ISO 4217
 * @param now the end of the period, epoch milliseconds
 */
export function toSummary(row: MetricsRow, currency: string, now: number): Summary {
  const digits = { count: 0, money: shopDigitsOf(currency), share: ratioDigits };
  const values = summaryFigures.map(({ field, format, value }) => {
    const exact = value(row) ?? 0;
    return [field, typeof exact === 'number' ? exact : roundHalfAway(exact, digits[format])];
  });
  return {
    ...(Object.fromEntries(values) as Record<FigureName, number>),
    generatedAt: isoTime(now),
    currency,
  };
}

/** The figures of a UTC day of a period, as seen from the period's end. Money is in the shop's currency. */
export interface DayOfHistory {
  /** For example 2026-11-20. */
  readonly day: string;
  readonly activeSubscribers: number;
  readonly mrr: number;
  readonly newSubscribers: number;
  readonly cancelled: number;
  readonly revenue: number;
  readonly failedPayments: number;
  readonly recoveredPayments: number;
  readonly sessions: Readonly<Record<'saved' | 'cancelled' | 'abandoned' | 'inProgress', number>>;
}

/** What the figures of a day count. */
export const dayFigures: Readonly<Record<Exclude<keyof DayOfHistory, 'day'>, string>> = {
  activeSubscribers: 'As above, at the end of the day.',
  mrr: 'As above, at the end of the day, with the prices and intervals of then.',
  newSubscribers: 'Customers whose first ever subscription began that day.',
  cancelled: 'Subscriptions cancelled that day and still so at the end of the period.',
  revenue: 'Payments that succeeded that day, less the refunds of that day.',
  failedPayments:
    'Billing cycles whose last failed payment of the period, except for lack of stock, was that day.',
  recoveredPayments: 'Dunning cases that a payment closed that day.',
  sessions: 'Cancel-flow sessions begun that day, by their outcome so far.',
};
