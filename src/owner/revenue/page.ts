import { lineNames, movementLines } from '../../metrics/movements.ts';
import { scaleLinear } from 'd3-scale';
import { html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { help } from '../ui/elements.ts';
import { formatMoney, formatRatio, formatShare, moneyFormat, signedFormat } from '../ui/formats.ts';
import { type Retention, retentionLines } from '../../metrics/retention.ts';
import { dataBegins, gapIn, pricesKnown, viewOfStart, viewPath } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { type Revenue, type RevenueSpan, revenueCharts, readRevenue } from './revenue.ts';
import { priceChoices, pricesTable } from './prices.ts';
import { type Movement, inflows, outflows, isOutflow, movements } from '../../metrics/facts.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import { shopPath } from '../site.ts';
import { emptySubject } from '../framework/empty.ts';
import { whyOf } from '../framework/why.ts';
import { type FiguresVisit, definePage, period } from '../framework/page.ts';

/** Names the table of what was kept, which the address may ask for. */
const retentionId = 'retention';

/** What changed the revenue, and the renewals to come. */
export const revenue = definePage({
  path: '/revenue',
  title: 'Revenue',
  navigation: { group: 'Insights', icon: 'revenue', isInBar: true },
  assets: ['charts', 'help'],
  pickers: period,
  files: { path: '/revenue.csv', by: 'table' },
  choices: priceChoices,
  read: (visit) =>
    readRevenue(visit, visit.query.get('table') === retentionId ? undefined : visit.isQuick()),
  answer,
  charts: revenueCharts,
  why: whyOf({
    figure: 'mrr',
    betterWhen: 'higher',
    list: '/subscriptions',
    filters: { figure: 'mrr' },
  }),
  tables: (visit, data) => [
    movementsTable(visit, data),
    retentionTable(visit, data),
    pricesTable(visit, data.prices),
  ],
  empty: (visit) =>
    emptySubject(visit, {
      title: 'No data yet',
      text: 'Revenue appears here: what changed it, and the renewals to come, once a source brings subscriptions.',
      answer: 'MRR rose by 8.6%. Most of it: new subscribers.',
      rows: [
        ['Change', 'Subscriptions', 'MRR'],
        ['New', '194', '+5,700'],
        ['Cancelled', '92', '−2,400'],
      ],
    }),
});

function answer(visit: FiguresVisit, data: Revenue) {
  const { whole: now, wholeBefore: before, firstDay, pricesSince } = data;
  const { shop, view } = visit;
  const money = (amount: number) => formatMoney(visit, amount);
  return {
    text: html`MRR ${growthOf(visit, now)}: ${money(now.came)} came, ${money(now.left)} left.`,
    note: html`${showPeriod(visit, view.period)},
      ${
        before
          ? html`compared with ${showPeriod(visit, view.before)}, when it
            ${growthOf(visit, before)}.`
          : `${dataBegins(visit, firstDay)}.`
      }
      Days in UTC, amounts in ${shop.currency}.
      ${pricesKnown(visit, pricesSince, before ? view.before.from : view.period.from)}
      <a href="#prices">What price changes did</a>.`,
  };
}

function growthOf(visit: ShopVisit, { growth }: RevenueSpan): string {
  const size = formatMoney(visit, Math.abs(growth));
  if (growth === 0) return 'did not change';
  return growth > 0 ? `grew by ${size}` : `fell by ${size}`;
}

type Name = keyof typeof movementLines;

const isEnd = (name: Name) => name === 'opening' || name === 'closing';

/** A movement as what it adds to the MRR. */
function signed(name: Name, { movements: values }: RevenueSpan): number {
  return isMovement(name) && isOutflow(name) ? 0 - values[name] : values[name];
}

const isMovement = (name: Name): name is Movement => !isEnd(name);

/** What changed the MRR, from the start to the end of the period. */
function movementsTable(
  visit: FiguresVisit,
  { whole: now, wholeBefore: before, firstDay }: Revenue,
): Exhibit {
  const { shop, view } = visit;
  const money = moneyFormat(visit);
  const show = (name: Name, span: RevenueSpan) => {
    const value = signed(name, span);
    return isEnd(name) ? money(value) : signedFormat(money)(value);
  };
  return tableExhibit<Name>({
    id: 'movements',
    noun: 'mrr-movements',
    title: 'What changed MRR',
    look: 'parts movements',
    narrow: 'stacks',
    rows: lineNames,
    rowLook: (name) => (isEnd(name) ? 'end' : undefined),
    columns: [
      {
        label: 'Change',
        kind: 'head',
        cell(name) {
          const { label, definition } = movementLines[name];
          return html`<a href="${rowsOf(visit, name)}">${label}</a>
            ${help(name, label, definition)}`;
        },
        file: { Change: (name) => movementLines[name].label },
      },
      { label: '', kind: 'bar', cell: barsOf(now) },
      {
        label: 'This period',
        kind: 'amount main',
        cell: (name) => html`<bdi data-movement="${name}">${show(name, now)}</bdi>`,
        file: { 'This period': (name) => signed(name, now) },
      },
      {
        label: gapIn(view.before, firstDay) ?? 'Compared with',
        kind: 'amount quiet',
        cell: (name) => html`<bdi>${before ? show(name, before) : '–'}</bdi>`,
        file: {
          'Compared with': (name) => (before ? signed(name, before) : null),
          Currency: () => shop.currency,
        },
      },
    ],
    note: addsUp(now, visit)
      ? undefined
      : html`<p class="quiet">
          Each amount is rounded once, so the rounded ones may differ from their sum by a minor
          unit.
        </p>`,
  });
}

/** What became of the MRR that the period began with. */
function retentionTable(
  visit: FiguresVisit,
  { retained, retainedBefore, firstDay, isRetentionCounted }: Revenue,
): Exhibit {
  const names = Object.keys(retentionLines) as (keyof typeof retentionLines)[];
  const query = new URLSearchParams(visit.query);
  query.set('table', retentionId);
  const show = (name: keyof typeof retentionLines, values: Retention | undefined) => {
    const value = values?.[name] ?? null;
    if (value === null) return '–';
    if (name === 'arpa') return formatMoney(visit, value);
    return name === 'quickRatio' ? formatRatio(visit, value) : formatShare(visit, value);
  };
  return tableExhibit<keyof typeof retentionLines>({
    id: retentionId,
    noun: 'revenue-retention',
    title: 'What was kept of MRR',
    look: 'parts movements',
    narrow: 'stacks',
    rows: names.filter((name) => isRetentionCounted || (name !== 'net' && name !== 'gross')),
    columns: [
      {
        label: 'Figure',
        kind: 'head',
        cell(name) {
          const { label, definition } = retentionLines[name];
          return html`${label} ${help(name, label, definition)}`;
        },
        file: { Figure: (name) => retentionLines[name].label },
      },
      {
        label: 'This period',
        kind: 'amount main',
        cell: (name) => html`<bdi data-retention="${name}">${show(name, retained)}</bdi>`,
        file: { 'This period': (name) => retained[name] },
      },
      {
        label: gapIn(visit.view.before, firstDay) ?? 'Compared with',
        kind: 'amount quiet',
        cell: (name) => html`<bdi>${show(name, retainedBefore)}</bdi>`,
        file: { 'Compared with': (name) => retainedBefore?.[name] ?? null },
      },
    ],
    note:
      !isRetentionCounted &&
      html`<p class="quiet">
        <a href="${shopPath(visit.shop, `/revenue?${query}`)}#${retentionId}"
          >Count net and gross retention</a
        >: for so many subscriptions, that takes a second.
      </p>`,
  });
}

/** Where the subscriptions of a line are. */
function rowsOf({ shop, view }: FiguresVisit, name: Name): string {
  if (isMovement(name)) {
    return viewPath(shopPath(shop, '/revenue/movements'), view, { movement: name });
  }
  const then = name === 'opening' ? viewOfStart(view) : view;
  return viewPath(shopPath(shop, '/subscriptions'), then, { figure: 'mrr' });
}

/** Whether the rounded amounts are exactly each other's sums. */
function addsUp({ movements: values, came, left, growth }: RevenueSpan, visit: ShopVisit): boolean {
  const money = moneyFormat(visit);
  const isSame = (one: number, other: number) => money(Math.abs(one - other)) === money(0);
  const total = (names: readonly Movement[]) => names.reduce((sum, name) => sum + values[name], 0);
  return (
    isSame(total(inflows), came) &&
    isSame(total(outflows), left) &&
    isSame(came - left, growth) &&
    isSame(values.opening + growth, values.closing)
  );
}

/** Each movement as a bar that begins where the one before it ended. */
function barsOf({ movements: values }: RevenueSpan) {
  let level = values.opening;
  const ends = new Map<string, readonly [number, number]>([['opening', [level, level]]]);
  for (const name of movements) {
    const next = level + (isOutflow(name) ? -values[name] : values[name]);
    ends.set(name, [level, next]);
    level = next;
  }
  ends.set('closing', [values.closing, values.closing]);
  const all = [...ends.values()].flat();
  const x = scaleLinear([Math.min(...all), Math.max(...all)], [1, 99]);
  return (name: Name) => {
    const [from, to] = (ends.get(name) ?? [0, 0]).map(x).toSorted((a, b) => a - b) as [
      number,
      number,
    ];
    if (!isEnd(name) && values[name] === 0) return undefined;
    const tone = isMovement(name) ? (isOutflow(name) ? 'lost' : 'kept') : 'neutral';
    const width = Math.max(to - from, 0.6);
    return html`<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect
        class="${tone}"
        x="${from.toFixed(2)}"
        width="${width.toFixed(2)}"
        y="${isEnd(name) ? 0 : 2}"
        height="${isEnd(name) ? 12 : 8}"
      />
    </svg>`;
  };
}
