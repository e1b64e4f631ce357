import { type Figure, figures } from '../../metrics/figures.ts';

/** Shown largest. */
export const heroes: readonly Figure[] = [
  figures.mrr,
  figures.activeSubscribers,
  figures.churnRate30d,
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
      figures.newSubscribers30d,
      figures.cancelled30d,
      figures.pausedSubscribers,
      figures.cancelSessions30d,
      figures.saveRate,
      figures.avgSubscriptionValue,
    ],
  },
  {
    title: 'Payments',
    figures: [
      figures.revenue30d,
      figures.failedPayments30d,
      figures.dunningActive,
      figures.recoveryRate,
      figures.upcomingRenewals7d,
      figures.upcomingRenewalsValue7d,
    ],
  },
];

export const allFigures: readonly Figure[] = [
  ...heroes,
  ...figureGroups.flatMap((group) => group.figures),
];
