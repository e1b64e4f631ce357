import type { DayOfHistory } from '../../metrics/history.ts';
import type { Summary } from '../../metrics/figures.ts';

/** One of the fifteen figures, and how its card shows it. */
export interface Figure {
  readonly field: Exclude<keyof Summary, 'generatedAt' | 'currency'>;
  readonly name: string;
  readonly format: 'count' | 'money' | 'share';
  /** The period, if the name does not include it. */
  readonly period?: string;
  /** Shown behind the “?” of the card. */
  readonly definition: string;
  /**
   * How it compares with 30 days before, if it does: an `instant` figure needs data from 30 days before, a
   * 30-day `window` needs data from 60 days before.
   */
  readonly comparison?: 'instant' | 'window';
  /** Absent if neither direction is better. */
  readonly betterWhen?: 'higher' | 'lower';
  /** Why a quotient is undefined, in a few words. */
  readonly undefinedBecause?: string;
  /** The daily value for its sparkline. */
  readonly byDay?: (day: DayOfHistory) => number;
}

export interface FigureGroup {
  readonly title: string;
  readonly figures: readonly Figure[];
}

const last30 = 'last 30 days';
const next7 = 'next 7 days';

export const figureGroups: readonly FigureGroup[] = [
  {
    title: 'Subscribers',
    figures: [
      {
        field: 'activeSubscribers',
        name: 'Active subscribers',
        format: 'count',
        period: 'now',
        definition: 'Customers with at least one active subscription, each counted once.',
        comparison: 'instant',
        betterWhen: 'higher',
        byDay: (day) => day.activeSubscribers,
      },
      {
        field: 'pausedSubscribers',
        name: 'Paused subscribers',
        format: 'count',
        period: 'now',
        definition: 'Customers with a paused subscription and no active one.',
        comparison: 'instant',
      },
      {
        field: 'newSubscribers30d',
        name: 'New subscribers',
        format: 'count',
        period: last30,
        definition:
          'Customers whose first subscription ever started in the last 30 days. Returning customers do not count.',
        comparison: 'window',
        betterWhen: 'higher',
        byDay: (day) => day.newSubscribers,
      },
    ],
  },
  {
    title: 'Revenue',
    figures: [
      {
        field: 'mrr',
        name: 'Monthly recurring revenue',
        format: 'money',
        definition:
          'Monthly revenue from active subscriptions: price per cycle times cycles per month. Past values use today’s prices and intervals, because earlier ones are not stored.',
        comparison: 'instant',
        betterWhen: 'higher',
        byDay: (day) => day.mrr,
      },
      {
        field: 'revenue30d',
        name: 'Revenue',
        format: 'money',
        period: last30,
        definition:
          'Successful payments in the last 30 days, minus refunds in the same period. Can be negative.',
        comparison: 'window',
        betterWhen: 'higher',
        byDay: (day) => day.revenue,
      },
      {
        field: 'avgSubscriptionValue',
        name: 'Average subscription value',
        format: 'money',
        period: 'per cycle',
        definition:
          'Average price per billing cycle of active subscriptions, regardless of the interval.',
        undefinedBecause: 'No active subscriptions',
      },
    ],
  },
  {
    title: 'Payments',
    figures: [
      {
        field: 'failedPayments30d',
        name: 'Failed payments',
        format: 'count',
        period: last30,
        definition:
          'Billing cycles with a failed payment in the last 30 days; each cycle counts once. Failures due to missing stock do not count.',
        comparison: 'window',
        betterWhen: 'lower',
        byDay: (day) => day.failedPayments,
      },
      {
        field: 'dunningActive',
        name: 'Outstanding payments',
        format: 'count',
        period: 'now',
        definition:
          'Active or paused subscriptions with a failed payment that has not been recovered.',
        comparison: 'instant',
        betterWhen: 'lower',
      },
      {
        field: 'recoveryRate',
        name: 'Recovery rate',
        format: 'share',
        period: last30,
        definition:
          'Of the payment failures resolved in the last 30 days, the share that was paid in the end. Unresolved ones do not count.',
        comparison: 'window',
        betterWhen: 'higher',
        undefinedBecause: 'No failures resolved yet',
      },
    ],
  },
  {
    title: 'Churn',
    figures: [
      {
        field: 'cancelled30d',
        name: 'Cancellations',
        format: 'count',
        period: last30,
        definition:
          'Subscriptions that were cancelled in the last 30 days and are still cancelled.',
        comparison: 'window',
        betterWhen: 'lower',
        byDay: (day) => day.cancelled,
      },
      {
        field: 'churnRate30d',
        name: 'Churn rate',
        format: 'share',
        period: last30,
        definition:
          'Of the subscriptions that were active or paused when the last 30 days began or at any time since, the share that has been cancelled or has failed. Planned expiry is not churn.',
        comparison: 'window',
        betterWhen: 'lower',
        undefinedBecause: 'No subscriptions to lose',
      },
    ],
  },
  {
    title: 'Cancel flow',
    figures: [
      {
        field: 'cancelSessions30d',
        name: 'Sessions started',
        format: 'count',
        period: last30,
        definition:
          'Cancel-flow sessions started in the last 30 days, including those in progress.',
        comparison: 'window',
        byDay: ({ sessions }) =>
          sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress,
      },
      {
        field: 'saveRate',
        name: 'Save rate',
        format: 'share',
        period: last30,
        definition:
          'Saved sessions as a share of the cancel-flow sessions that started in the last 30 days and have ended.',
        comparison: 'window',
        betterWhen: 'higher',
        undefinedBecause: 'No sessions ended yet',
      },
    ],
  },
  {
    title: 'Renewals',
    figures: [
      {
        field: 'upcomingRenewals7d',
        name: 'Upcoming renewals',
        format: 'count',
        period: next7,
        definition:
          'Active subscriptions to be billed in the next 7 days. Overdue ones do not count.',
      },
      {
        field: 'upcomingRenewalsValue7d',
        name: 'Value of renewals',
        format: 'money',
        period: next7,
        definition: 'Total price of the subscriptions to be billed in the next 7 days.',
      },
    ],
  },
];
