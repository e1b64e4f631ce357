import type { Chart } from '../charts/chart.ts';
import { overTime, spansOf, timesOf } from '../charts/times.ts';
import { seriesOf, unitsOf } from '../charts/values.ts';
import { day } from '../../metrics/bounds.ts';
import { closingOf } from '../../metrics/movements.ts';
import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import { type Exhibit, chartExhibit } from '../framework/exhibits.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount, formatMoney } from '../ui/locale.ts';
import { daysPath } from '../view/days.ts';
import { type Revenue, type RevenueDay, spanOf } from './revenue.ts';

/** The charts of the page, those of the past first. */
export function revenueCharts(visit: FiguresVisit, revenue: Revenue): Exhibit[] {
  return [...pastCharts(visit, revenue), ...projectionCharts(visit, revenue)].map((each) =>
    chartExhibit(visit.shop, each),
  );
}

function pastCharts(
  visit: FiguresVisit,
  { days, before, whole, wholeBefore }: Revenue,
): [Chart, Chart, Chart] {
  const { shop, view } = visit;
  const { amounts } = unitsOf(visit);
  const money = (amount: number) => formatMoney(visit, shop, amount);
  const { spans: groups, frame, span, rows } = overTime(visit, days);
  const spansIn = (some: readonly RevenueDay[]) => spansOf(some).map((each) => spanOf(each, shop));
  const [spans, spansBefore] = [spansIn(days), before && spansIn(before).slice(0, groups.length)];
  const mrrAt = (some: readonly RevenueDay[]) =>
    some.map((each) => roundHalfAway(closingOf(each), shopDigitsOf(shop.currency)));
  const per = `Per ${span}, UTC`;
  const bars = { marks: 'bars', ...frame, ...amounts } as const;
  const points = timesOf(
    visit,
    days.map((each) => [each]),
  );
  return [
    {
      id: 'chart-mrr',
      title: 'Monthly recurring revenue',
      headline: {
        now: money(whole.movements.closing),
        before: compared(wholeBefore && money(wholeBefore.movements.closing)),
      },
      caption: `At the end of every ${span}, UTC, at today’s prices`,
      marks: 'line',
      initial: 'last',
      ...points,
      hrefs: points.times.map((time) => daysPath(shopPath(shop, '/revenue/movements'), view, time)),
      series: [
        {
          name: 'MRR',
          tone: 'plain',
          values: mrrAt(days),
          before: before && mrrAt(before.slice(0, days.length)),
        },
      ],
      ...amounts,
    },
    {
      id: 'chart-movements',
      title: 'MRR that came and left',
      headline: {
        now: `${money(whole.came)} came, ${money(whole.left)} left`,
        before: compared(
          wholeBefore && `${money(wholeBefore.came)} and ${money(wholeBefore.left)}`,
        ),
      },
      caption: `${per}, at today’s prices`,
      series: [
        {
          ...seriesOf('Came', 'good', spans, ({ came }) => came),
          hrefs: rows('/revenue/movements', { movement: 'came' }),
        },
        {
          ...seriesOf('Left', 'bad', spans, ({ left }) => left),
          hrefs: rows('/revenue/movements', { movement: 'left' }),
        },
      ],
      ...bars,
    },
    {
      id: 'chart-revenue',
      title: 'Revenue',
      headline: {
        now: money(whole.revenue),
        before: compared(wholeBefore && money(wholeBefore.revenue)),
      },
      caption: `${per}. Payments less refunds`,
      series: [seriesOf('Revenue', 'plain', spans, (each) => each.revenue, spansBefore)],
      hrefs: rows('/payments'),
      ...bars,
    },
  ];
}

function projectionCharts(visit: FiguresVisit, { weeks }: Revenue): [Chart, Chart] {
  const { counts, amounts } = unitsOf(visit);
  const money = (amount: number) => formatMoney(visit, visit.shop, amount);
  const groups = weeks.map(({ from }) =>
    Array.from({ length: 7 }, (_, index) => ({ day: isoDay(Date.parse(from) + index * day) })),
  );
  const { times } = timesOf(visit, groups);
  const frame = {
    caption: 'Projection: weeks of 7 × 24 hours from now, UTC',
    marks: 'bars',
    initial: 'first',
    times,
    hrefs: weeks.map((_, index) => {
      const path = shopPath(visit.shop, '/revenue/renewals');
      return index === 0 ? path : (`${path}?week=${index + 1}` as const);
    }),
    timeHeading: 'Week from (UTC)',
  } as const;
  const [next] = weeks;
  return [
    {
      id: 'chart-renewals',
      title: 'Renewals expected',
      headline: { now: `${formatCount(visit, next?.renewals ?? 0)} in the next 7 days` },
      series: [seriesOf('Renewals', 'plain', weeks, ({ renewals }) => renewals)],
      ...frame,
      ...counts,
    },
    {
      id: 'chart-renewals-value',
      title: 'Value of the renewals expected',
      headline: { now: `${money(next?.value ?? 0)} in the next 7 days` },
      series: [seriesOf('Value', 'plain', weeks, ({ value }) => value)],
      ...frame,
      ...amounts,
      caption: `${frame.caption}, at today’s prices`,
    },
  ];
}

const compared = (text: string | undefined) => text && `Compared with ${text}`;
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
