import type { Period } from '../../metrics/bounds.ts';
import { type Cases, type ClosedCases, amountOf, results } from '../../metrics/recovery.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, spansOf } from '../charts/times.ts';
import { type Values, unitsOf } from '../charts/values.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { daysOf } from '../view/days.ts';
import { type Recovery, ended } from './figures.ts';

/** A UTC day, and what closed on it. */
interface Day {
  readonly day: string;
  readonly closed: readonly ClosedCases[];
}

const tones = { recovered: 'plain', lost: 'bad' } as const;
const names = { recovered: 'Recovered', lost: 'Lost' } as const;

/** What was recovered and lost over time, by number and by amount. */
export function recoveryCharts(visit: FiguresVisit, recovery: Recovery): Chart[] {
  const { shop, view } = visit;
  const { counts, amounts } = unitsOf(visit);
  const {
    spans,
    frame,
    span: length,
    rows,
  } = overTime(visit, daysIn(view.period, recovery.closed));
  const spansBefore = recovery.before && spansOf(daysIn(view.before, recovery.before));
  // Side by side from the end on; a leap day more does not matter.
  const earlier =
    spansBefore &&
    spans.map((_, index) => spansBefore[index + spansBefore.length - spans.length] ?? []);
  const chartOf = (
    id: string,
    title: string,
    units: Values,
    valueOf: (cases: Cases) => number,
  ): Chart => {
    const totals = (cases: readonly ClosedCases[]) =>
      results
        .map((result) => `${units.format(valueOf(ended(cases, result)))} ${result}`)
        .join(', ');
    return {
      id,
      title,
      headline: {
        now: totals(recovery.closed),
        before: recovery.before && `Before: ${totals(recovery.before)}`,
      },
      caption: `Per ${length}, UTC`,
      marks: 'bars',
      series: results.map((result) => ({
        name: names[result],
        tone: tones[result],
        values: spans.map((span) => valueOf(ended(closedIn(span), result))),
        before: earlier?.map((span) => valueOf(ended(closedIn(span), result))),
      })),
      hrefs: rows('/recovery/closed'),
      ...frame,
      ...units,
    };
  };
  return [
    chartOf('recovered', 'Payments recovered and lost', counts, ({ count }) => count),
    chartOf('recovered-amount', 'Amounts recovered and lost', amounts, (cases) =>
      amountOf(cases, shop.currency),
    ),
  ];
}

const closedIn = (span: readonly Day[]) => span.flatMap(({ closed }) => closed);

const daysIn = (period: Period, closed: readonly ClosedCases[]) => {
  const byDay = Map.groupBy(closed, (each) => each.day);
  return daysOf(period, (at) => ({ closed: byDay.get(at) ?? [] }));
};
