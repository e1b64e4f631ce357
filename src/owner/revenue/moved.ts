import { ServiceError } from '../../errors.ts';
import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type Movement,
  arrivals,
  departures,
  isDeparture,
  movements,
} from '../../metrics/facts.ts';
import { zero } from '../../metrics/figures.ts';
import { type MovementValues, summariseMovements } from '../../metrics/movements.ts';
import { type MovedRow, listMoved, monthlyChangeOf } from '../../metrics/revenue/moved.ts';
import { add, roundHalfAway, shopDigitsOf } from '../../money.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { type Tone, everyInterval, state } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import {
  type Column,
  type PageOfRows,
  listing,
  pageOfRows,
  parameter,
  subscriptionColumns,
} from '../ui/listing.ts';
import { moneyFormat } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { type Days, daysIn, partOf } from '../view/days.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewPath, viewQuery } from '../view/view.ts';
import { lines } from './movements.ts';

const path = '/revenue/movements';

const tones: Readonly<Record<Movement, Tone>> = {
  new: 'good',
  added: 'good',
  resumed: 'good',
  reactivated: 'good',
  paused: 'attention',
  cancelled: 'over',
  expired: 'over',
  failed: 'bad',
};

/** What an address can choose, and which movements that is. */
const choices: Readonly<Record<string, readonly [label: string, names: readonly Movement[]]>> = {
  came: ['Came', arrivals],
  left: ['Left', departures],
  ...Object.fromEntries(movements.map((name) => [name, [lines[name].label, [name]]] as const)),
};

/** Which movements are listed, as the address says it. */
export interface MovedFilter {
  readonly movement: string | undefined;
  readonly names: readonly Movement[];
  readonly days: Days;
}

/** @throws ServiceError invalid */
export function movedFilter(visit: ShopVisit): MovedFilter {
  const movement = parameter(visit, 'movement');
  const known = Object.keys(choices);
  if (movement !== undefined && !known.includes(movement)) {
    throw new ServiceError('invalid', `movement must be one of ${known.join(', ')}.`);
  }
  const [, names] = (movement === undefined ? undefined : choices[movement]) ?? ['', movements];
  return { movement, names, days: daysIn(visit) };
}

/**
 * A page of the subscriptions that moved, the last to move first.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function readMoved(
  store: Store,
  shop: Shop,
  view: View,
  { movement, names, days }: MovedFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<PageOfRows<MovedRow>> {
  // The period may end now, so that its ends are other instants on each page.
  const identity = `${shop.id} moved ${viewQuery(view)} ${JSON.stringify({ movement, days })}`;
  const after = cursor === undefined ? undefined : decodeCursor(identity, cursor);
  const page = { names, after, limit: limit + 1 };
  const found = await store.readRecent(shop.id, ({ analyse }) =>
    listMoved(analyse, shop.id, partOf(view.period, days), page),
  );
  return pageOfRows(found, limit, identity, ({ at, subscriptionId }) => ({
    createdAt: at,
    id: subscriptionId,
  }));
}

export function readMovedTotal(
  store: Store,
  shop: Shop,
  view: View,
  { days }: MovedFilter,
): Promise<MovementValues> {
  const { from, until } = partOf(view.period, days);
  return store.readRecent(shop.id, ({ analyse }) =>
    summariseMovements(analyse, shop.id, from, until),
  );
}

interface Parts extends PageOfRows<MovedRow> {
  readonly view: View;
  readonly filter: MovedFilter;
  readonly total: MovementValues;
}

/** Which subscriptions changed the MRR, when and by how much. */
export function movedContent(visit: ShopVisit, parts: Parts): Html {
  const { view, filter, rows, nextCursor } = parts;
  const { shop } = visit;
  const { movement, days } = filter;
  const here = shopPath(shop, path);
  // Another period has other days.
  const query = new URLSearchParams(visit.query);
  for (const name of ['first', 'last']) query.delete(name);
  return html`${periodPicker({ ...visit, query }, view, here)} ${total(visit, parts)}
  ${listing({
    caption: 'Subscriptions that changed the MRR, the last to change first',
    noun: 'changes',
    path: here,
    query: { ...Object.fromEntries(viewQuery(view)), movement, ...days },
    filter: { name: 'movement', label: 'Change', options: choices },
    columns: columnsFor(visit),
    rows,
    cursor: parameter(visit, 'cursor'),
    nextCursor,
    csv: shopPath(shop, `${path}.csv`),
    emptyState: html`<h2>MRR did not change</h2>
      <p>No subscription began, came back, was paused or left in this period.</p>`,
  })}`;
}

function total(visit: ShopVisit, { view, filter, total: values }: Parts): Html {
  const { shop } = visit;
  const { movement, names, days } = filter;
  const format = moneyFormat(visit, shop);
  const money = (value: MovementValues['opening']) =>
    format(roundHalfAway(value, shopDigitsOf(shop.currency)));
  const sum = (some: readonly Movement[]) =>
    money(some.map((name) => values[name]).reduce(add, zero));
  const when = showPeriod(visit, partOf(view.period, days));
  const hasDays = days.first !== undefined || days.last !== undefined;
  const whole = viewPath(shopPath(shop, path), view, movement === undefined ? {} : { movement });
  const sign = names.every(isDeparture) ? '−' : '+';
  return html`<p>
      ${
        movement === undefined
          ? html`<strong>MRR went from ${money(values.opening)} to ${money(values.closing)}</strong>
              ${when}: ${sum(arrivals)} came, ${sum(departures)} left.`
          : html`<strong>${sum(names) === money(zero) ? '' : sign}${sum(names)} of MRR</strong>
              ${when}: ${choices[movement]?.[0].toLowerCase()}.`
      }
      ${hasDays ? html`<a href="${whole}">Show the whole period</a>` : undefined}
    </p>
    <p class="quiet">
      At today’s prices. Times are in UTC. Each amount is rounded once, so they may differ from
      their sum by minor units.
    </p>`;
}

function columnsFor(visit: ShopVisit): readonly Column<MovedRow>[] {
  const { shop } = visit;
  const format = moneyFormat(visit, shop);
  return [
    ...subscriptionColumns(shop),
    {
      label: 'Change',
      kind: 'state',
      cell: ({ movement }) => state([lines[movement].label, tones[movement]]),
    },
    { label: 'Billed', kind: 'minor', cell: (row) => everyInterval(visit, row) },
    {
      label: 'MRR',
      kind: 'amount',
      cell: (row) => {
        const change = changeOf(row, shop);
        const sign = change === 0 ? '' : change < 0 ? '−' : '+';
        return html`<bdi>${sign}${format(Math.abs(change))}</bdi>`;
      },
    },
    { label: 'When', kind: 'date', cell: ({ at }) => showDay(visit, new Date(at)) },
  ];
}

const changeOf = (row: MovedRow, { currency }: Shop) =>
  roundHalfAway(monthlyChangeOf(row), shopDigitsOf(currency));

const heads = [
  'Subscription',
  'Customer',
  'Plan number',
  'Plan',
  'Change',
  'Billed every (count)',
  'Billed every (unit)',
  'MRR',
  'Currency',
  'Time (UTC)',
];

/** @param read a page of the list from a cursor on */
export async function movedFile(
  shop: Shop,
  now: number,
  read: (cursor?: string) => Promise<PageOfRows<MovedRow>>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.subscriptionId,
      row.customerId,
      row.planId,
      row.planName,
      lines[row.movement].label,
      row.count,
      row.unit,
      changeOf(row, shop),
      shop.currency,
      new Date(row.at).toISOString(),
    ]),
  );
  return csvFile({ shop, noun: 'mrr-changes', now, heads, rows });
}
