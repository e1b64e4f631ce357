import type { Summary } from '../../metrics/figures.ts';
import type { DashboardDay } from './dashboard.ts';

/** One of the fifteen figures, and how the overview shows it. */
export interface Figure {
  readonly field: Exclude<keyof Summary, 'generatedAt' | 'currency'>;
  readonly name: string;
  readonly format: 'count' | 'money' | 'share';
  /** Shown behind its “?”. */
  readonly definition: string;
  /** The page of the rows that it counts, below the shop’s. */
  readonly rows: string;
  /** The filter of that page. */
  readonly filter?: Readonly<Record<string, string>>;
  /** What it says of the period: what held at its end, or what happened in it. Absent if it is about the future. */
  readonly comparison?: 'instant' | 'window';
  /** Absent if neither direction is better. */
  readonly betterWhen?: 'higher' | 'lower';
  /** Why it is not known, in four words. */
  readonly undefinedBecause?: string;
  /** The daily value for its line. */
  readonly byDay?: (day: DashboardDay) => number;
}

const active = { figure: 'active' } as const;
export const failedPayments = { kind: 'failed' } as const;

/** Shown largest. */
export const heroes: readonly Figure[] = [
  {
    field: 'mrr',
    name: 'Monthly recurring revenue',
    format: 'money',
    definition:
      'Monthly revenue from active subscriptions at the end of the period: price per cycle times cycles per month. Past values use today’s prices and intervals, because earlier ones are not stored.',
    rows: '/subscriptions',
    filter: active,
    comparison: 'instant',
    betterWhen: 'higher',
    byDay: (day) => day.mrr,
  },
  {
    field: 'activeSubscribers',
    name: 'Active subscribers',
    format: 'count',
    definition:
      'Customers with at least one active subscription at the end of the period, each counted once.',
    rows: '/subscriptions',
    filter: active,
    comparison: 'instant',
    betterWhen: 'higher',
    byDay: (day) => day.activeSubscribers,
  },
  {
    field: 'churnRate30d',
    name: 'Churn rate',
    format: 'share',
    definition:
      'Of the subscriptions that were active or paused when the period began or at any time in it, the share that was cancelled or failed. Planned expiry is not churn.',
    rows: '/churn',
    comparison: 'window',
    betterWhen: 'lower',
    undefinedBecause: 'No subscriptions to lose',
    byDay: (day) => day.churned,
  },
];

interface FigureGroup {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** The other figures. */
export const figureGroups: readonly FigureGroup[] = [
  {
    title: 'Subscribers',
    figures: [
      {
        field: 'newSubscribers30d',
        name: 'New subscribers',
        format: 'count',
        definition:
          'Customers whose first subscription ever started in the period. Returning customers do not count.',
        rows: '/subscriptions',
        filter: { figure: 'new' },
        comparison: 'window',
        betterWhen: 'higher',
        byDay: (day) => day.newSubscribers,
      },
      {
        field: 'cancelled30d',
        name: 'Cancellations',
        format: 'count',
        definition:
          'Subscriptions that were cancelled in the period and were still cancelled at its end. One that had failed before counts here; the churn page counts it when it failed.',
        rows: '/subscriptions',
        filter: { figure: 'cancelled' },
        comparison: 'window',
        betterWhen: 'lower',
        byDay: (day) => day.cancelled,
      },
      {
        field: 'pausedSubscribers',
        name: 'Paused subscribers',
        format: 'count',
        definition:
          'Customers with a paused subscription and no active one, at the end of the period.',
        rows: '/subscriptions',
        filter: { figure: 'paused' },
        comparison: 'instant',
      },
      {
        field: 'cancelSessions30d',
        name: 'Cancel-flow sessions',
        format: 'count',
        definition: 'Cancel-flow sessions started in the period, including those in progress.',
        rows: '/cancel-flow/sessions',
        comparison: 'window',
        byDay: ({ sessions }) =>
          sessions.saved + sessions.cancelled + sessions.abandoned + sessions.inProgress,
      },
      {
        field: 'saveRate',
        name: 'Save rate',
        format: 'share',
        definition:
          'Saved sessions as a share of the cancel-flow sessions that started in the period and have ended.',
        rows: '/cancel-flow',
        comparison: 'window',
        betterWhen: 'higher',
        undefinedBecause: 'No session has ended',
      },
      {
        field: 'avgSubscriptionValue',
        name: 'Average subscription value',
        format: 'money',
        definition:
          'Average price per billing cycle of the subscriptions active at the end of the period, regardless of the interval, at today’s prices.',
        rows: '/subscriptions',
        filter: active,
        comparison: 'instant',
        undefinedBecause: 'No active subscriptions then',
      },
    ],
  },
  {
    title: 'Payments',
    figures: [
      {
        field: 'revenue30d',
        name: 'Revenue',
        format: 'money',
        definition:
          'Successful payments in the period, minus refunds in the same period. Can be negative.',
        rows: '/payments',
        comparison: 'window',
        betterWhen: 'higher',
        byDay: (day) => day.revenue,
      },
      {
        field: 'failedPayments30d',
        name: 'Failed payments',
        format: 'count',
        definition:
          'Billing cycles with a failed payment in the period; each cycle counts once. Failures due to missing stock do not count.',
        rows: '/payments',
        filter: failedPayments,
        comparison: 'window',
        betterWhen: 'lower',
        byDay: (day) => day.failedPayments,
      },
      {
        field: 'dunningActive',
        name: 'Outstanding payments',
        format: 'count',
        definition:
          'Active or paused subscriptions with a failed payment that had not been recovered at the end of the period.',
        rows: '/recovery/open',
        comparison: 'instant',
        betterWhen: 'lower',
      },
      {
        field: 'recoveryRate',
        name: 'Recovery rate',
        format: 'share',
        definition:
          'Of the payment failures resolved in the period, the share that was paid in the end. Unresolved ones do not count.',
        rows: '/recovery',
        comparison: 'window',
        betterWhen: 'higher',
        undefinedBecause: 'No failure was resolved',
      },
      {
        field: 'upcomingRenewals7d',
        name: 'Renewals, next 7 days',
        format: 'count',
        definition:
          'Active subscriptions to be billed in the next 7 days. Overdue ones do not count. Not known for the past, because earlier billing dates are not stored.',
        rows: '/revenue/renewals',
        undefinedBecause: 'Only known from today',
      },
      {
        field: 'upcomingRenewalsValue7d',
        name: 'Value of these renewals',
        format: 'money',
        definition:
          'Total price of the subscriptions to be billed in the next 7 days. Not known for the past, because earlier billing dates are not stored.',
        rows: '/revenue/renewals',
        undefinedBecause: 'Only known from today',
      },
    ],
  },
];

export const allFigures: readonly Figure[] = [
  ...heroes,
  ...figureGroups.flatMap(({ figures }) => figures),
];
