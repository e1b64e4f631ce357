import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type ChurnedRow, ageBands } from '../../metrics/churn.ts';
import type { Shop } from '../../store/shops.ts';
import { csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { reasonLabels, state } from '../ui/labels.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { shopPath } from '../ui/layout.ts';
import { type Column, listing, rowLink } from '../ui/listing.ts';
import { planOptions, selectField } from '../view/select.ts';
import { formatCount } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewQuery } from '../view/view.ts';
import { ageLabels, causeLabels } from './labels.ts';
import type { LeftFilter, LeftPage } from './left.ts';

interface Parts extends LeftPage {
  readonly view: View;
  readonly filter: LeftFilter;
  readonly cursor: string | undefined;
  readonly count: number;
  readonly planNames: ReadonlyMap<number, string>;
  readonly choices: SegmentChoices;
}

/** Those that left in a period, with filters. */
export function leftContent(visit: ShopVisit, parts: Parts): Html {
  const { view, filter, rows, nextCursor, cursor, count } = parts;
  const path = shopPath(visit.shop, '/churn/left');
  return html`${periodPicker(visit, view, path)}
  ${segmentPicker(visit, view.segment, parts.choices, path)} ${total(visit, filter, count)}
  ${filterForm(parts, path)}
  ${listing({
    caption: 'Subscriptions that left, the last to leave first',
    noun: 'subscriptions',
    path,
    query: { ...Object.fromEntries(viewQuery(view)), ...filter.query },
    filter: { name: 'cause', label: 'Cause', options: causeLabels },
    columns: columnsFor(visit),
    rows,
    cursor,
    nextCursor,
    csv: shopPath(visit.shop, '/churn/left.csv'),
    emptyState: html`<h2>No subscription left</h2>
      <p>None was cancelled or failed in this period, or all of them are back.</p>`,
  })}`;
}

function total(visit: ShopVisit, { window }: LeftFilter, count: number): Html {
  return html`<p>
    <strong>${formatCount(visit, count)} ${count === 1 ? 'subscription' : 'subscriptions'}</strong>
    left ${showPeriod(visit, window)}. Times are in UTC.
  </p>`;
}

/** Plan and age; the cause has links. */
function filterForm({ view, filter, planNames }: Parts, path: string): Html {
  const { 'left-plan': plan, 'left-age': age, ...others } = filter.query;
  const hidden = [...viewQuery(view), ...Object.entries(others)].filter(([, value]) => value);
  return html`<form class="choose" method="get" action="${path}">
    ${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${selectField({
      name: 'left-plan',
      label: 'Plan',
      none: 'All',
      selected: plan,
      options: planOptions(planNames),
    })}
    ${selectField({
      name: 'left-age',
      label: 'Age when it left',
      none: 'All',
      selected: age,
      options: ageBands.map(({ name }) => [name, ageLabels[name]]),
    })}
    <button class="plain">Filter</button>
  </form>`;
}

function columnsFor(visit: ShopVisit): readonly Column<ChurnedRow>[] {
  const { shop } = visit;
  return [
    {
      label: 'Subscription',
      kind: 'head',
      cell: ({ subscriptionId: id }) => rowLink(shopPath(shop, `/subscriptions/${id}`), id),
    },
    { label: 'Customer', kind: 'minor', cell: ({ customerId }) => customerId },
    { label: 'Plan', kind: 'name', cell: ({ planName }) => planName },
    { label: 'Cause', kind: 'state', cell: ({ cause }) => state(causeLabels[cause]) },
    { label: 'Reason', cell: ({ reason }) => (reason === null ? '–' : reasonLabels[reason]) },
    { label: 'Age', kind: 'minor', cell: ({ ageDays }) => daysOf(visit, ageDays) },
    { label: 'Left', kind: 'date', cell: ({ leftAt }) => showDay(visit, new Date(leftAt)) },
  ];
}

const daysOf = (visit: ShopVisit, days: number) =>
  `${formatCount(visit, days)} ${days === 1 ? 'day' : 'days'}`;

const heads = [
  'Subscription',
  'Customer',
  'Plan number',
  'Plan',
  'Cause',
  'Reason',
  'Age in days',
  'Left (UTC)',
];

/** @param read a page of the list from a cursor on */
export async function leftFile(
  shop: Shop,
  now: number,
  read: (cursor?: string) => Promise<LeftPage>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.subscriptionId,
      row.customerId,
      row.planId,
      row.planName,
      causeLabels[row.cause][0],
      row.reason === null ? null : reasonLabels[row.reason],
      row.ageDays,
      new Date(row.leftAt).toISOString(),
    ]),
  );
  return csvFile({ shop, noun: 'left', now, heads, rows });
}
