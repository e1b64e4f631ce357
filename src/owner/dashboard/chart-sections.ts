import { type Html, html } from '../../http/html.ts';
import { shopDigitsOf } from '../../money.ts';
import { type Chart, chart } from '../charts/chart.ts';
import { type Dashboard, day, periods } from './dashboard.ts';
import { reasonsTable } from './reasons.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat, localeOf, moneyFormat } from '../ui/locale.ts';

type Times = Pick<Chart, 'times' | 'timeHeading'>;

/** How a chart writes its values. */
type Values = Pick<Chart, 'format' | 'formatShort' | 'unit' | 'isMoney'>;

interface Units {
  readonly counts: Values;
  readonly amounts: Values;
}

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

function unitsOf(visit: ShopVisit): Units {
  const { currency } = visit.shop;
  return {
    counts: {
      format: countFormat(visit),
      formatShort: shortFormat(visit, {}),
      unit: 1,
      isMoney: false,
    },
    amounts: {
      format: moneyFormat(visit, visit.shop),
      formatShort: shortFormat(visit, { style: 'currency', currency }),
      unit: 10 ** -shopDigitsOf(currency),
      isMoney: true,
    },
  };
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
    ...timesOf(visit, history.map(dayAt), 1),
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
  const spans = groupDays(history, span, 'last');
  const frame = {
    marks: 'bars',
    initial: 'last',
    ...timesOf(visit, spans.map(firstAt), span),
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
  const spans = groupDays(upcoming, span, 'first');
  const frame = {
    marks: 'bars',
    initial: 'first',
    ...timesOf(visit, spans.map(firstAt), span),
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

function seriesOf<Row>(
  name: string,
  tone: Chart['series'][number]['tone'],
  rows: readonly Row[],
  valueOf: (row: Row) => number,
): Chart['series'][number] {
  return { name, tone, values: rows.map(valueOf) };
}

/** @param unit the smallest unit of the values; summing whole units keeps amounts exact */
function sumOf<Row>(valueOf: (row: Row) => number, unit = 1) {
  return (rows: readonly Row[]) =>
    rows.reduce((sum, row) => sum + Math.round(valueOf(row) / unit), 0) / Math.round(1 / unit);
}

/**
 * Groups days into spans, counted from today. An incomplete span at the far end is dropped, because it
 * would look like a decline.
 */
function groupDays<Row>(rows: readonly Row[], span: number, near: 'first' | 'last'): Row[][] {
  const count = Math.floor(rows.length / span);
  const skipped = near === 'last' ? rows.length - count * span : 0;
  return Array.from({ length: count }, (_, index) =>
    rows.slice(skipped + index * span, skipped + (index + 1) * span),
  );
}

const dayAt = (row: { readonly day: string }) => Date.parse(row.day);
const firstAt = ([row]: readonly { readonly day: string }[]) =>
  dayAt(row as { readonly day: string });

function timesOf(visit: ShopVisit, starts: readonly number[], span: number): Times {
  const locale = localeOf(visit);
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const short = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  return {
    timeHeading: span === 1 ? 'Day (UTC)' : '7 days (UTC)',
    times: starts.map((at) => ({
      full: span === 1 ? full.format(at) : full.formatRange(at, at + (span - 1) * day),
      short: short.format(at),
      first: isoDay(at),
      last: isoDay(at + (span - 1) * day),
    })),
  };
}

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

function shortFormat(visit: ShopVisit, options: Intl.NumberFormatOptions) {
  return new Intl.NumberFormat(localeOf(visit), {
    ...options,
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format;
}
