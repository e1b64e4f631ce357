import { type Html, html } from '../../http/html.ts';
import { shopDigitsOf } from '../../money.ts';
import { type Chart, chart } from './charts.ts';
import { type Dashboard, day, periods } from './dashboard.ts';
import { reasonsTable } from './reasons.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat, localeOf, moneyFormat } from '../ui/locale.ts';

type Times = Pick<Chart, 'times' | 'timeHeading'>;

/** Charts of the past and the coming days, over the chosen period. */
export function chartSection(visit: ShopVisit, data: Dashboard): Html {
  const { history, upcoming, period } = data;
  const days = timesOf(visit, history.map(dayAt), 1);
  // Daily bars would be too thin over a longer period.
  const span = period === 30 ? 1 : 7;
  const past = groupDays(history, span, 'last');
  const future = groupDays(upcoming, span, 'first');
  const pastTimes = timesOf(visit, past.map(firstAt), span);
  const futureTimes = timesOf(visit, future.map(firstAt), span);
  const counts = {
    format: countFormat(visit),
    formatShort: shortFormat(visit, {}),
    unit: 1,
  };
  const amounts = {
    format: moneyFormat(visit, visit.shop),
    formatShort: shortFormat(visit, { style: 'currency', currency: visit.shop.currency }),
    unit: 10 ** -shopDigitsOf(visit.shop.currency),
  };
  const per = span === 1 ? 'Per day, UTC' : 'Per 7 days, UTC';
  const charts: readonly Chart[] = [
    {
      id: 'chart-active',
      title: 'Active subscribers',
      caption: 'At the end of each day, UTC',
      marks: 'line',
      initial: 'last',
      series: [seriesOf('Active subscribers', 'plain', history, (each) => each.activeSubscribers)],
      ...days,
      ...counts,
    },
    {
      id: 'chart-mrr',
      title: 'Monthly recurring revenue',
      caption: 'At the end of each day, UTC, at today’s prices',
      marks: 'line',
      initial: 'last',
      series: [seriesOf('Monthly recurring revenue', 'plain', history, (each) => each.mrr)],
      ...days,
      ...amounts,
    },
    {
      id: 'chart-growth',
      title: 'New and cancelled',
      caption: `${per}. New customers, cancelled subscriptions`,
      marks: 'bars',
      initial: 'last',
      series: [
        seriesOf(
          'New',
          'plain',
          past,
          sumOf((each) => each.newSubscribers),
        ),
        seriesOf(
          'Cancelled',
          'bad',
          past,
          sumOf((each) => each.cancelled),
        ),
      ],
      ...pastTimes,
      ...counts,
    },
    {
      id: 'chart-payments',
      title: 'Failed and recovered payments',
      caption: `${per}. A billing cycle counts once for each day on which it fails`,
      marks: 'bars',
      initial: 'last',
      series: [
        seriesOf(
          'Failed',
          'bad',
          past,
          sumOf((each) => each.failedPayments),
        ),
        seriesOf(
          'Recovered',
          'plain',
          past,
          sumOf((each) => each.recoveredPayments),
        ),
      ],
      ...pastTimes,
      ...counts,
    },
    {
      id: 'chart-renewals',
      title: 'Upcoming renewals',
      caption: `${per}, starting now`,
      marks: 'bars',
      initial: 'first',
      series: [
        seriesOf(
          'Renewals',
          'plain',
          future,
          sumOf((each) => each.renewals),
        ),
      ],
      ...futureTimes,
      ...counts,
    },
    {
      id: 'chart-value',
      title: 'Value of upcoming renewals',
      caption: `${per}, starting now, at today’s prices`,
      marks: 'bars',
      initial: 'first',
      series: [
        seriesOf(
          'Value',
          'plain',
          future,
          sumOf((each) => each.value, amounts.unit),
        ),
      ],
      ...futureTimes,
      ...amounts,
    },
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
                ${each === period ? html`aria-current="true"` : undefined}
                >${each} days</a
              >
            </li>`,
        )}
      </ul>
    </header>
    <div class="grid">${charts.map(chart)} ${reasonsTable(visit, data)}</div>
  </section>`;
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
