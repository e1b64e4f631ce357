import { type Period, day as dayMs } from '../../metrics/bounds.ts';
import { exampleFigures } from '../../metrics/figures.ts';
import type { Shop } from '../../store/shops.ts';
import type { View } from '../view/view.ts';
import type { Dashboard } from './dashboard.ts';

function wave(middle: number, day: number, pace: number): number {
  return Math.round(middle * (1 + 0.3 * Math.sin(day * pace) + 0.15 * Math.sin(day * 2.3 * pace)));
}

/** The whole days of a period, from these figures on. */
const history = (period: Period, from: { readonly active: number; readonly mrr: number }) =>
  Array.from({ length: 29 }, (_, day): Dashboard['history'][number] => ({
    day: new Date(period.from + (day + 1) * dayMs).toISOString().slice(0, 10),
    activeSubscribers: from.active + day * 3 - (day % 4) * 2,
    mrr: from.mrr + day * 110 - (day % 5) * 60,
    newSubscribers: wave(50, day, 0.5),
    cancelled: wave(30, day, 0.4),
    churned: 3 + (day % 3),
    revenue: wave(1450, day, 0.6),
    failedPayments: wave(20, day, 0.7),
    recoveredPayments: wave(12, day, 0.7),
    sessions: {
      saved: wave(12, day, 0.45),
      cancelled: wave(20, day, 0.5),
      abandoned: 1,
      inProgress: 0,
    },
  }));

/** The figures of a made-up shop, for the overview of a shop without data. */
export function sampleFigures({ currency }: Pick<Shop, 'currency'>, view: View) {
  const figures = (of: 'before' | 'now') => ({
    summary: { ...exampleFigures(of), generatedAt: '2026-01-31T00:00:00.000Z', currency },
    undefinedFigures: new Set<string>(),
    bases: { atRisk: 1300, dunningClosed: 60, sessionsEnded: 110 },
  });
  return {
    ...figures('now'),
    view,
    earlier: figures('before'),
    firstDay: 0,
    history: history(view.period, { active: 1164, mrr: 38_200 }),
    historyBefore: history(view.before, { active: 1120, mrr: 37_000 }),
    reasons: [
      { reason: 'too_expensive', saved: 14, cancelled: 24, abandoned: 3 },
      { reason: 'too_much_product', saved: 17, cancelled: 9, abandoned: 1 },
    ] as const,
  };
}
