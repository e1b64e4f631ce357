import { type Html, html } from '../../http/html.ts';
import { type Chart, chart } from '../charts/chart.ts';
import { spansOf, timesOf } from '../charts/times.ts';
import { type Values, seriesOf, sumOf, unitsOf } from '../charts/values.ts';
import { type Dashboard, periods } from './dashboard.ts';
import { reasonsTable } from './reasons.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';

type Units = ReturnType<typeof unitsOf>;

/** Charts of the past and the coming days, over the chosen period. */
export function chartsOf(visit: ShopVisit, data: Dashboard): Chart[] {
  const units = unitsOf(visit);
  // Daily bars would be too thin over a longer period.
  const span = data.period === 30 ? 1 : 7;
  return [
    ...stateCharts(visit, data, units),
    ...changeCharts(visit, data, span, units),
    ...renewalCharts(visit, data, span, units),
  ];
}

export function chartSection(visit: ShopVisit, data: Dashboard): Html {
  const charts = chartsOf(visit, data).map((each) =>
    chart(each, shopPath(visit.shop, `/charts.csv?chart=${each.id}&days=${data.period}`)),
  );
  return html`<section class="charts" id="charts">
    <header>
      <h2>Over time</h2>
      <ul class="periods" aria-label="Period">
        ${periods.map(
          (each) =>
            html`<li>
              <a
                href="${shopPath(visit.shop, `?days=${each}#charts`)}"
                ${each === data.period ? html`aria-current="true"` : undefined}
                >${each} days</a
              >
            </li>`,
        )}
      </ul>
    </header>
    <div class="grid">${charts} ${reasonsTable(visit, data)}</div>
  </section>`;
}

type Day = Dashboard['history'][number];

/** What was so at the end of each day. */
function stateCharts(visit: ShopVisit, data: Dashboard, units: Units): Chart[] {
  const { history, historyBefore, period } = data;
  const headlineOf = ({ format }: Values, valueOf: (each: Day) => number) => {
    const last = (days: readonly Day[]) => format(days.map(valueOf).at(-1) ?? 0);
    return {
      now: last(history),
      before: historyBefore && `${period} days earlier: ${last(historyBefore)}`,
    };
  };
  const frame = {
    marks: 'line',
    initial: 'last',
    ...timesOf(
      visit,
      history.map((each) => [each]),
    ),
  } as const;
  return [
    {
      id: 'chart-active',
      title: 'Active subscribers',
      caption: 'At the end of each day, UTC',
      series: [seriesOf('Active subscribers', 'plain', history, (each) => each.activeSubscribers)],
      headline: headlineOf(units.counts, (each) => each.activeSubscribers),
      ...frame,
      ...units.counts,
    },
    {
      id: 'chart-mrr',
      title: 'Monthly recurring revenue',
      caption: 'At the end of each day, UTC, at today’s prices',
      series: [seriesOf('Monthly recurring revenue', 'plain', history, (each) => each.mrr)],
      headline: headlineOf(units.amounts, (each) => each.mrr),
      ...frame,
      ...units.amounts,
    },
  ];
}

const perSpan = (span: number) => (span === 1 ? 'Per day, UTC' : 'Per 7 days, UTC');

/** What happened in each span of days. */
function changeCharts(
  visit: ShopVisit,
  { history, historyBefore, period }: Dashboard,
  span: number,
  { counts }: Units,
): Chart[] {
  const spans = spansOf(history);
  const frame = {
    marks: 'bars',
    initial: 'last',
    ...timesOf(visit, spans),
    ...counts,
  } as const;
  type Kind = readonly [
    name: string,
    tone: Chart['series'][number]['tone'],
    valueOf: (each: Day) => number,
  ];
  const summed = (...kinds: readonly Kind[]): Pick<Chart, 'series' | 'headline'> => {
    const totals = (days: readonly Day[]) =>
      kinds
        .map(([name, , valueOf]) => `${counts.format(sumOf(valueOf)(days))} ${name.toLowerCase()}`)
        .join(', ');
    return {
      series: kinds.map(([name, tone, valueOf]) => seriesOf(name, tone, spans, sumOf(valueOf))),
      headline: {
        now: totals(history),
        before: historyBefore && `${period} days before: ${totals(historyBefore)}`,
      },
    };
  };
  return [
    {
      id: 'chart-growth',
      title: 'New and cancelled',
      caption: `${perSpan(span)}. New customers, cancelled subscriptions`,
      ...summed(
        ['New', 'plain', (each) => each.newSubscribers],
        ['Cancelled', 'bad', (each) => each.cancelled],
      ),
      ...frame,
    },
    {
      id: 'chart-payments',
      title: 'Failed and recovered payments',
      caption: `${perSpan(span)}. A billing cycle counts once for each day on which it fails`,
      ...summed(
        ['Failed', 'bad', (each) => each.failedPayments],
        ['Recovered', 'plain', (each) => each.recoveredPayments],
      ),
      ...frame,
    },
  ];
}

/** What is due in each span of days from now on. */
function renewalCharts(
  visit: ShopVisit,
  { upcoming }: Dashboard,
  span: number,
  { counts, amounts }: Units,
): Chart[] {
  const spans = spansOf(upcoming);
  const frame = {
    marks: 'bars',
    initial: 'first',
    ...timesOf(visit, spans),
  } as const;
  const renewals = sumOf((each: Dashboard['upcoming'][number]) => each.renewals);
  const value = sumOf((each: Dashboard['upcoming'][number]) => each.value, amounts.unit);
  return [
    {
      id: 'chart-renewals',
      title: 'Upcoming renewals',
      caption: `${perSpan(span)}, starting now`,
      headline: { now: counts.format(renewals(upcoming)) },
      series: [seriesOf('Renewals', 'plain', spans, renewals)],
      ...frame,
      ...counts,
    },
    {
      id: 'chart-value',
      title: 'Value of upcoming renewals',
      caption: `${perSpan(span)}, starting now, at today’s prices`,
      headline: { now: amounts.format(value(upcoming)) },
      series: [seriesOf('Value', 'plain', spans, value)],
      ...frame,
      ...amounts,
    },
  ];
}
