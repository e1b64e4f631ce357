import { ServiceError } from '../../errors.ts';
import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { monthBefore } from '../../metrics/bounds.ts';
import { zero } from '../../metrics/figures.ts';
import {
  projectRenewals,
  projectedWeekOf,
  projectedWeeks,
} from '../../metrics/revenue/projection.ts';
import type { RenewingRow } from '../../metrics/revenue/renewing.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { segmentQuery } from '../../metrics/segments/segment.ts';
import { type Ratio, parseDecimal, roundHalfAway, shopDigitsOf } from '../../money.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { everyInterval } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import {
  type Column,
  type PageOfRows,
  listing,
  pageOfRows,
  parameter,
  subscriptionColumns,
} from '../ui/listing.ts';
import { formatCount, formatMoney, moneyFormat } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { showPeriod } from '../view/picker.ts';
import { type View, selectionOf } from '../view/view.ts';

const path = '/revenue/renewals';

/**
 * The week of the projection that an address names, from 0.
 * @throws ServiceError invalid
 */
export function weekOf(visit: ShopVisit, { segment }: View): number {
  const text = parameter(visit, 'week') ?? '1';
  const isKnown = /^[1-9]$/.test(text) && Number(text) <= projectedWeeks;
  if (!isKnown) throw new ServiceError('invalid', `week must be from 1 to ${projectedWeeks}.`);
  if (segment && text !== '1') {
    throw new ServiceError(
      'invalid',
      'Of a segment, only the next 7 days are known: week must be 1.',
    );
  }
  return Number(text) - 1;
}

/**
 * A page of what renews in a week, by the next billing date.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function readRenewing(
  store: Store,
  shop: Shop,
  view: View,
  week: number,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<PageOfRows<RenewingRow>> {
  const identity = `${shop.id} renewing ${segmentQuery(view.segment)} ${week}`;
  const after = cursor === undefined ? undefined : decodeCursor(identity, cursor);
  const page = { after, limit: limit + 1 };
  const found = await store.readRecent(shop.id, (from) =>
    readFigures(from, shop, selectionOf(view), (figures) =>
      figures.renewing({ now: view.now, week }, page),
    ),
  );
  return pageOfRows(found, limit, identity, ({ nextBillingAt, subscriptionId }) => ({
    createdAt: nextBillingAt,
    id: subscriptionId,
  }));
}

interface RenewingTotal {
  readonly renewals: number;
  readonly value: Ratio;
}

export function readRenewingTotal(
  store: Store,
  shop: Shop,
  view: View,
  week: number,
): Promise<RenewingTotal> {
  const selection = selectionOf(view);
  return store.readRecent(shop.id, async (from) => {
    if (!selection) {
      const weeks = await projectRenewals(from.analyse, shop.id, view.now);
      return weeks[week] ?? { renewals: 0, value: zero };
    }
    const row = await readFigures(from, shop, selection, (figures) =>
      figures.summary(monthBefore(view.now), view.now),
    );
    return {
      renewals: row.upcomingRenewals ?? 0,
      value: parseDecimal(row.upcomingRenewalsValue ?? '0'),
    };
  });
}

interface Parts extends PageOfRows<RenewingRow> {
  readonly view: View;
  readonly week: number;
  readonly total: RenewingTotal;
  readonly choices: SegmentChoices;
}

/** Which subscriptions are expected to renew in a week. */
export function renewingContent(visit: ShopVisit, parts: Parts): Html {
  const { view, week, total, choices, rows, nextCursor } = parts;
  const { shop } = visit;
  const here = shopPath(shop, path);
  const { renewals, value } = total;
  const count = `${formatCount(visit, renewals)} ${renewals === 1 ? 'subscription' : 'subscriptions'}`;
  const money = formatMoney(visit, shop, roundHalfAway(value, shopDigitsOf(shop.currency)));
  const weeks = Array.from({ length: view.segment ? 0 : projectedWeeks - 1 }, (_, index) => {
    const label = showPeriod(visit, projectedWeekOf(view.now, index + 1));
    return [String(index + 2), [label]] as const;
  });
  const query = new URLSearchParams(visit.query);
  query.delete('week');
  return html`${segmentPicker({ ...visit, query }, view.segment, choices, here)}
    <p>
      <strong>${count} for ${money}</strong> expected to renew
      ${showPeriod(visit, projectedWeekOf(view.now, week))}.
    </p>
    <p class="quiet">
      A projection: active subscriptions by their next billing date, and from there on by their
      billing interval. A week has each subscription once. Times are in UTC.
    </p>
    ${listing({
      caption: 'Subscriptions expected to renew, the next to be billed first',
      noun: 'renewals',
      path: here,
      query: {
        ...Object.fromEntries(segmentQuery(view.segment)),
        week: week === 0 ? undefined : String(week + 1),
      },
      filter: {
        name: 'week',
        label: 'Week',
        none: 'Next 7 days',
        options: Object.fromEntries(weeks),
      },
      columns: columnsFor(visit),
      rows,
      cursor: parameter(visit, 'cursor'),
      nextCursor,
      csv: shopPath(shop, `${path}.csv`),
      emptyState: html`<h2>Nothing renews in these 7 days</h2>
        <p>Active subscriptions appear here by their next billing date. Overdue ones do not.</p>`,
    })}`;
}

function columnsFor(visit: ShopVisit): readonly Column<RenewingRow>[] {
  const money = moneyFormat(visit, visit.shop);
  return [
    ...subscriptionColumns(visit.shop),
    { label: 'Billed', cell: (row) => everyInterval(visit, row) },
    {
      label: 'Price',
      kind: 'amount',
      cell: ({ price }) => html`<bdi>${money(Number(price))}</bdi>`,
    },
    {
      label: 'Next billing',
      kind: 'date',
      cell: ({ nextBillingAt }) => showDay(visit, new Date(nextBillingAt)),
    },
  ];
}

const heads = [
  'Subscription',
  'Customer',
  'Plan number',
  'Plan',
  'Billed every (count)',
  'Billed every (unit)',
  'Price per cycle',
  'Currency',
  'Next billing (UTC)',
];

/** @param read a page of the list from a cursor on */
export async function renewingFile(
  shop: Shop,
  now: number,
  read: (cursor?: string) => Promise<PageOfRows<RenewingRow>>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.subscriptionId,
      row.customerId,
      row.planId,
      row.planName,
      row.count,
      row.unit,
      Number(row.price),
      shop.currency,
      new Date(row.nextBillingAt).toISOString(),
    ]),
  );
  return csvFile({ shop, noun: 'renewals', now, heads, rows });
}
