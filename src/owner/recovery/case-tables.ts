import { type Html, html } from '../../http/html.ts';
import {
  type CaseOrder,
  type CaseRow,
  type ClosedCaseRow,
  type OpenCaseRow,
  caseOrders,
} from '../../metrics/recovery/cases.ts';
import type { OpenCases, Result } from '../../metrics/recovery/figures.ts';
import type { ShopVisit } from '../pages.ts';
import { failureWords, showFailureCode } from './failure-codes.ts';
import { type Tone, state } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { rowLink } from '../framework/columns.ts';
import { type Column, listing, parameter, sourcesLink } from '../ui/listing.ts';
import { formatCount, formatMoney } from '../ui/locale.ts';
import { showAgo, showDay } from '../ui/times.ts';
import { type View, viewPath, viewQuery } from '../view/view.ts';
import type { CasePage } from './files.ts';
import { codeParameter, orderOf } from './filters.ts';
import type { Outstanding } from './outstanding.ts';

const resultLabels: Readonly<Record<Result, readonly [label: string, tone: Tone]>> = {
  recovered: ['Recovered', 'good'],
  lost: ['Lost', 'bad'],
};

const orderLabels: Readonly<Record<CaseOrder, string>> = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  amount: 'Highest amount first',
};

/** More would be more than a choice. */
const maxCodes = 12;

export function openCases(
  visit: ShopVisit,
  { rows, nextCursor }: CasePage<OpenCaseRow>,
  outstanding: readonly OpenCases[],
  { view }: Outstanding,
): Html {
  const { shop } = visit;
  const path = shopPath(shop, '/recovery/open');
  const [code, order] = [parameter(visit, 'code'), orderOf(visit)];
  const codes = outstanding.toSorted((a, b) => b.count - a.count).slice(0, maxCodes);
  return listing<OpenCaseRow>({
    caption: `Outstanding payments: ${orderLabels[order].toLowerCase()}`,
    noun: 'outstanding payments',
    path,
    query: {
      ...Object.fromEntries(viewQuery(view)),
      code,
      order: order === 'oldest' ? undefined : order,
    },
    lookups: html`<div class="filters" role="group" aria-label="Order">
      ${caseOrders.map((each) => {
        const more = {
          ...(code === undefined ? {} : { code }),
          ...(each === 'oldest' ? {} : { order: each }),
        };
        return html`<a
          href="${viewPath(path, view, more)}"
          ${each === order ? html`aria-current="true"` : undefined}
          >${orderLabels[each]}</a
        >`;
      })}
    </div>`,
    filter: {
      name: 'code',
      label: 'Failure code',
      options: Object.fromEntries(
        codes.map((each) => [
          codeParameter(each.failureCode),
          [`${failureWords(each.failureCode)} (${formatCount(visit, each.count)})`],
        ]),
      ),
    },
    columns: [
      ...commonColumns(visit),
      attemptsColumn(visit, 'number'),
      { label: 'First failed', kind: 'date', cell: ({ openedAt }) => showAgo(openedAt, view.now) },
      {
        label: 'Next billing',
        kind: 'minor',
        cell: ({ nextBillingAt }) =>
          nextBillingAt ? showDay(visit, nextBillingAt) : html`<span class="quiet">Unknown</span>`,
      },
      customerColumn(visit),
    ],
    rows,
    cursor: parameter(visit, 'cursor'),
    nextCursor,
    csv: shopPath(shop, '/recovery/open.csv'),
    emptyState: html`<h2>Nothing is outstanding</h2>
      <p>A payment appears here when it fails, until it is paid or its subscription ends.</p>
      <p>${sourcesLink(visit)}</p>`,
  });
}

/** The filters of closed cases that come from the links of figures. */
const linked = ['code', 'attempts', 'retries', 'first', 'last'] as const;

export function closedCases(
  visit: ShopVisit,
  view: View,
  { rows, nextCursor }: CasePage<ClosedCaseRow>,
): Html {
  const { shop } = visit;
  const filters = Object.fromEntries(linked.map((name) => [name, parameter(visit, name)]));
  return listing<ClosedCaseRow>({
    caption: 'Recovered and lost payments, the last to close first',
    noun: 'payments',
    path: shopPath(shop, '/recovery/closed'),
    query: {
      ...Object.fromEntries(viewQuery(view)),
      ...filters,
      result: parameter(visit, 'result'),
    },
    lookups: filterNote(visit, view, filters),
    filter: { name: 'result', label: 'Result', options: resultLabels },
    columns: [
      ...commonColumns(visit),
      { label: 'Result', kind: 'state', cell: ({ result }) => state(resultLabels[result]) },
      { label: 'Closed', kind: 'date', cell: ({ closedAt }) => showDay(visit, closedAt) },
      attemptsColumn(visit, 'minor'),
      { label: 'First failed', kind: 'minor', cell: ({ openedAt }) => showDay(visit, openedAt) },
      customerColumn(visit),
    ],
    rows,
    cursor: parameter(visit, 'cursor'),
    nextCursor,
    csv: shopPath(shop, '/recovery/closed.csv'),
    emptyState: html`<h2>Nothing closed in this period</h2>
      <p>A failed payment closes when it is paid, or when its subscription ends.</p>`,
  });
}

/** Which filters hold beside those that can be chosen on the page. */
function filterNote(
  visit: ShopVisit,
  view: View,
  { code, attempts, retries, first, last }: Readonly<Record<string, string | undefined>>,
): Html {
  const notes = [
    code === undefined ? [] : failureWords(code === codeParameter(null) ? null : code),
    attempts === undefined ? [] : `failed attempts: ${attempts.replace('+', ' or more')}`,
    retries === undefined ? [] : `attempts to collect: ${retries.replace('+', ' or more')}`,
    first === undefined ? [] : `from ${first} (UTC)`,
    last === undefined ? [] : `to ${last} (UTC)`,
  ].flat();
  if (notes.length === 0) return html``;
  return html`<p class="quiet">
    Only ${notes.join(', ')}.
    <a href="${viewPath(shopPath(visit.shop, '/recovery/closed'), view)}">See all</a>
  </p>`;
}

function commonColumns<Row extends CaseRow>(visit: ShopVisit): readonly Column<Row>[] {
  const { shop } = visit;
  return [
    {
      label: 'Subscription',
      kind: 'head',
      cell: ({ subscriptionId: id }) => rowLink(shopPath(shop, `/subscriptions/${id}`), id),
    },
    { label: 'Failure', kind: 'name', cell: ({ failureCode }) => showFailureCode(failureCode) },
    {
      label: 'Amount',
      kind: 'amount',
      cell: ({ amount }) => formatMoney(visit, shop, Number(amount)),
    },
  ];
}

function attemptsColumn<Row extends CaseRow>(
  visit: ShopVisit,
  kind: 'number' | 'minor',
): Column<Row> {
  return {
    label: 'Attempts',
    kind,
    cell: ({ attempts }) => `${formatCount(visit, attempts)} failed`,
  };
}

function customerColumn<Row extends CaseRow>({ shop }: ShopVisit): Column<Row> {
  return {
    label: 'Customer',
    kind: 'minor',
    cell: ({ customerId }) =>
      html`<a href="${shopPath(shop, `/subscriptions?customer=${customerId}`)}">${customerId}</a>`,
  };
}
