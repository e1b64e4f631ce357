import { type Period, day } from '../../metrics/bounds.ts';
import { type Cases, type ClosedCases, amountOf, results } from '../../metrics/recovery/figures.ts';
import type { Chart } from '../charts/chart.ts';
import { spanName, spansOf, timesOf } from '../charts/times.ts';
import { type Values, unitsOf } from '../charts/values.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { shopPath } from '../ui/layout.ts';
import { daysPath } from '../view/days.ts';
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
  const spans = spansOf(daysOf(view.period, recovery.closed));
  const spansBefore = recovery.before && spansOf(daysOf(view.before, recovery.before));
  // Side by side from the end on; a leap day more does not matter.
  const earlier =
    spansBefore &&
    spans.map((_, index) => spansBefore[index + spansBefore.length - spans.length] ?? []);
  const { times, timeHeading } = timesOf(visit, spans);
  const hrefs = times.map((time) => daysPath(shopPath(shop, '/recovery/closed'), view, time));
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
      caption: `Per ${spanName(spans)}, UTC`,
      marks: 'bars',
      series: results.map((result) => ({
        name: names[result],
        tone: tones[result],
        values: spans.map((span) => valueOf(ended(closedIn(span), result))),
        before: earlier?.map((span) => valueOf(ended(closedIn(span), result))),
      })),
      times,
      timeHeading,
      hrefs,
      initial: 'last',
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

/** The days of a period; the first and the last one may be cut by it. */
function daysOf({ from, until }: Period, closed: readonly ClosedCases[]): Day[] {
  const first = Math.floor(from / day);
  const byDay = Map.groupBy(closed, (each) => each.day);
  return Array.from({ length: Math.ceil(until / day) - first }, (_, index) => {
    const at = (first + index) * day;
    return { day: new Date(at).toISOString().slice(0, 10), closed: byDay.get(at) ?? [] };
  });
}
