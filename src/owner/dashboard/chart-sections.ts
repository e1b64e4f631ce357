import { type Html, html } from '../../http/html.ts';
import { shopDigitsOf } from '../../money.ts';
import { type Chart, chart } from './charts.ts';
import { type Dashboard, day, periods } from './dashboard.ts';
import { reasonsTable } from './reasons.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat, localeOf, moneyFormat } from '../ui/locale.ts';

type Times = Pick<Chart, 'times' | 'timeHeading'>;

/** How a chart writes its values. */
type Values = Pick<Chart, 'format' | 'formatShort' | 'unit'>;

interface Units {
  readonly counts: Values;
  readonly amounts: Values;
}

/** Charts of the past and the coming days, over the chosen period. */
export function chartSection(visit: ShopVisit, data: Dashboard): Html {
  const units = unitsOf(visit);
  // Daily bars would be too thin over a longer period.
  const span = data.period === 30 ? 1 : 7;
  const charts = [
    ...stateCharts(visit, data, units),
    ...changeCharts(visit, data, span, units),
    ...renewalCharts(visit, data, span, units),
  ];
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
    <div class="grid">${charts.map(chart)} ${reasonsTable(visit, data)}</div>
  </section>`;
}

function unitsOf(visit: ShopVisit): Units {
  const { currency } = visit.shop;
  return {
    counts: { format: countFormat(visit), formatShort: shortFormat(visit, {}), unit: 1 },
    amounts: {
      format: moneyFormat(visit, visit.shop),
      formatShort: shortFormat(visit, { style: 'currency', currency }),
      unit: 10 ** -shopDigitsOf(currency),
    },
  };
}

/** What was so at the end of each day. */
function stateCharts(visit: ShopVisit, { history }: Dashboard, units: Units): Chart[] {
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
      ...frame,
      ...units.counts,
    },
    {
      id: 'chart-mrr',
      title: 'Monthly recurring revenue',
      caption: 'At the end of each day, UTC, at today’s prices',
      series: [seriesOf('Monthly recurring revenue', 'plain', history, (each) => each.mrr)],
      ...frame,
      ...units.amounts,
    },
  ];
}

const perSpan = (span: number) => (span === 1 ? 'Per day, UTC' : 'Per 7 days, UTC');

/** What happened in each span of days. */
function changeCharts(
  visit: ShopVisit,
  { history }: Dashboard,
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
  type Day = Dashboard['history'][number];
  const summed = (
    name: string,
    tone: Chart['series'][number]['tone'],
    valueOf: (each: Day) => number,
  ) => seriesOf(name, tone, spans, sumOf(valueOf));
  return [
    {
      id: 'chart-growth',
      title: 'New and cancelled',
      caption: `${perSpan(span)}. New customers, cancelled subscriptions`,
      series: [
        summed('New', 'plain', (each) => each.newSubscribers),
        summed('Cancelled', 'bad', (each) => each.cancelled),
      ],
      ...frame,
    },
    {
      id: 'chart-payments',
      title: 'Failed and recovered payments',
      caption: `${perSpan(span)}. A billing cycle counts once for each day on which it fails`,
      series: [
        summed('Failed', 'bad', (each) => each.failedPayments),
        summed('Recovered', 'plain', (each) => each.recoveredPayments),
      ],
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
      series: [seriesOf('Renewals', 'plain', spans, renewals)],
      ...frame,
      ...counts,
    },
    {
      id: 'chart-value',
      title: 'Value of upcoming renewals',
      caption: `${perSpan(span)}, starting now, at today’s prices`,
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
    })),
  };
}

function shortFormat(visit: ShopVisit, options: Intl.NumberFormatOptions) {
  return new Intl.NumberFormat(localeOf(visit), {
    ...options,
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format;
}
