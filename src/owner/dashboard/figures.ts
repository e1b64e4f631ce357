import type { DayOfHistory } from '../../metrics/history.ts';
import type { Summary } from '../../metrics/figures.ts';

/** One of the fifteen figures, and how a card shows it. */
export interface Figure {
  readonly field: Exclude<keyof Summary, 'generatedAt' | 'currency'>;
  readonly name: string;
  readonly shows: 'count' | 'money' | 'share';
  /** What time it is of, where the name does not say. */
  readonly period?: string;
  /** What it counts, for whoever asks. */
  readonly counts: string;
  /**
   * Whether, and from when on, it can be compared with 30 days before: what holds at an instant once
   * the shop has data from then, what is counted over 30 days once it has data from 60 days before.
   */
  readonly compares?: 'instant' | 'window';
  /** Whether what it was follows only from all that changed since. */
  readonly followsChanges?: true;
  /** Which way is good, where one of them is. */
  readonly betterWhen?: 'higher' | 'lower';
  /** Whether there was nothing to divide by, so that a rate of 0 says nothing. */
  readonly isVoid?: (summary: Summary) => boolean;
  /** What its sparkline shows of each day. */
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
        shows: 'count',
        period: 'now',
        counts: 'Customers with at least one active subscription, each counted once.',
        compares: 'instant',
        betterWhen: 'higher',
        byDay: (day) => day.activeSubscribers,
      },
      {
        field: 'pausedSubscribers',
        name: 'Paused subscribers',
        shows: 'count',
        period: 'now',
        counts: 'Customers with a paused subscription and no active one.',
        compares: 'instant',
      },
      {
        field: 'newSubscribers30d',
        name: 'New subscribers',
        shows: 'count',
        period: last30,
        counts:
          'Customers whose very first subscription began in the last 30 days. Who comes back is not new.',
        compares: 'window',
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
        shows: 'money',
        counts:
          'What the active subscriptions bring in per month: price per cycle times cycles per month. The change, and the past, are by today’s prices and intervals, as those of then are not kept.',
        compares: 'instant',
        betterWhen: 'higher',
        byDay: (day) => day.mrr,
      },
      {
        field: 'revenue30d',
        name: 'Revenue',
        shows: 'money',
        period: last30,
        counts:
          'Payments that succeeded in the last 30 days, less the refunds made in them. Can be below zero.',
        compares: 'window',
        betterWhen: 'higher',
        byDay: (day) => day.revenue,
      },
      {
        field: 'avgSubscriptionValue',
        name: 'Average subscription',
        shows: 'money',
        period: 'per cycle',
        counts:
          'The mean price per billing cycle of the active subscriptions, whatever the interval.',
      },
    ],
  },
  {
    title: 'Payments',
    figures: [
      {
        field: 'failedPayments30d',
        name: 'Failed payments',
        shows: 'count',
        period: last30,
        counts:
          'Billing cycles of which a payment failed in the last 30 days, however often. Failures for lack of stock do not count.',
        compares: 'window',
        followsChanges: true,
        betterWhen: 'lower',
        byDay: (day) => day.failedPayments,
      },
      {
        field: 'dunningActive',
        name: 'Payments outstanding',
        shows: 'count',
        period: 'now',
        counts: 'Active or paused subscriptions with a failed payment that has not been made good.',
        compares: 'instant',
        betterWhen: 'lower',
      },
      {
        field: 'recoveryRate',
        name: 'Recovery rate',
        shows: 'share',
        period: last30,
        counts:
          'Of the payment failures settled in the last 30 days: the share that was paid after all. Open ones count neither way.',
        compares: 'window',
        betterWhen: 'higher',
        isVoid: ({ recoveryRate }) => recoveryRate === 0,
      },
    ],
  },
  {
    title: 'Churn',
    figures: [
      {
        field: 'cancelled30d',
        name: 'Cancellations',
        shows: 'count',
        period: last30,
        counts: 'Subscriptions that were cancelled in the last 30 days and still are.',
        compares: 'window',
        followsChanges: true,
        betterWhen: 'lower',
        byDay: (day) => day.cancelled,
      },
      {
        field: 'churnRate30d',
        name: 'Churn rate',
        shows: 'share',
        period: last30,
        counts:
          'Of the subscriptions that were active or paused at some time in the last 30 days or just before: the share that has since been cancelled or has failed. One that expires as planned is no churn.',
        compares: 'window',
        followsChanges: true,
        betterWhen: 'lower',
        isVoid: (summary) =>
          summary.churnRate30d === 0 && summary.activeSubscribers + summary.pausedSubscribers === 0,
      },
    ],
  },
  {
    title: 'Cancel flow',
    figures: [
      {
        field: 'cancelSessions30d',
        name: 'Sessions begun',
        shows: 'count',
        period: last30,
        counts: 'Cancel-flow sessions begun in the last 30 days, those in progress too.',
        compares: 'window',
        byDay: ({ sessions }) =>
          sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress,
      },
      {
        field: 'saveRate',
        name: 'Save rate',
        shows: 'share',
        period: last30,
        counts:
          'Of the cancel-flow sessions begun in the last 30 days that have ended: the share in which the customer stayed.',
        compares: 'window',
        betterWhen: 'higher',
        isVoid: ({ saveRate }) => saveRate === 0,
      },
    ],
  },
  {
    title: 'Renewals',
    figures: [
      {
        field: 'upcomingRenewals7d',
        name: 'Upcoming renewals',
        shows: 'count',
        period: next7,
        counts: 'Active subscriptions billed in the next 7 days. Overdue ones are not upcoming.',
      },
      {
        field: 'upcomingRenewalsValue7d',
        name: 'Value of renewals',
        shows: 'money',
        period: next7,
        counts: 'The present prices of the subscriptions billed in the next 7 days, together.',
      },
    ],
  },
];
