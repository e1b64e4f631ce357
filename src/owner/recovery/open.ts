import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { type Html, html } from '../../http/html.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import {
  type CaseOrder,
  type OpenCaseRow,
  type OpenCases,
  amountOf,
  totalOf,
} from '../../metrics/recovery.ts';
import type { ShopVisit } from '../pages.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { defineList } from '../framework/page.ts';
import { shopPath, sourcesLink } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showAgo, showDay, showTime } from '../ui/times.ts';
import { type View, todayOf, understood, viewPath } from '../view/view.ts';
import {
  attempts,
  casePlace,
  codeFilter,
  codeParameter,
  customer,
  failure,
  fileHeads,
  payments,
} from './cases.ts';
import { failureWords } from './failure-codes.ts';

const openFilters = { code: codeFilter };

type Visit = ListVisit<typeof openFilters, CaseOrder>;

/** More would be more than a choice. */
const maxCodes = 12;

const momentOf = ({ view: { period, now } }: Visit) => ({ at: seenFrom(period, now), now });

/** What all cases of the list come to, of those with any code. */
const totalIn = ({ filters: { code } }: Visit, cases: readonly OpenCases[]) =>
  totalOf(cases.filter(({ failureCode }) => code === undefined || failureCode === code));

const orders = {
  oldest: 'Oldest first',
  newest: 'Newest first',
  amount: 'Highest amount first',
  lowest: 'Lowest amount first',
} as const;

/** The payments outstanding at the end of a period. */
export const openCases = defineList<OpenCaseRow, readonly OpenCases[]>()({
  path: '/recovery/open',
  title: 'Outstanding payments',
  label: 'Outstanding payments',
  parent: '/recovery',
  noun: 'outstanding payments',
  fileNoun: 'outstanding-payments',
  caption: ({ order }) => `Outstanding payments: ${orders[order].toLowerCase()}`,
  pickers: ['segment'],
  view: (view) => viewOfEnd(understood(view)),
  filters: openFilters,
  links: {
    name: 'code',
    label: 'Failure code',
    options: (visit, cases) =>
      Object.fromEntries(
        cases
          .toSorted((a, b) => b.count - a.count)
          .slice(0, maxCodes)
          .map(({ failureCode, count }) => [
            codeParameter(failureCode),
            [`${failureWords(failureCode)} (${formatCount(visit, count)})`],
          ]),
      ),
  },
  orders,
  place: casePlace.extend({ amount: z.string().regex(/^\d{1,13}(\.\d{1,6})?$/) }),
  placeOf: ({ openedAt, subscriptionId, position, amount }) => ({
    openedAt,
    subscriptionId,
    position,
    amount,
  }),
  read: (visit, page) =>
    figuresOf(visit, (figures) =>
      figures.openCases({
        ...momentOf(visit),
        ...page,
        order: visit.order,
        code: visit.filters.code,
      }),
    ),
  summarise: (visit) => figuresOf(visit, (figures) => figures.outstanding(momentOf(visit).at)),
  head: (visit, cases) =>
    html`<p>
      ${payments(visit, totalIn(visit, cases).count)} outstanding ${endOf(visit, visit.view)}.
      ${sinceThen(visit, visit.view)}
    </p>`,
  columns: (visit) => [
    column.subscription,
    failure,
    column.money('Amount', ({ amount }) => Number(amount), {
      sort: ['lowest', 'amount'],
      sum: (cases, { shop }) => amountOf(totalIn(visit, cases), shop.currency),
    }),
    attempts,
    column.time('First failed', ({ openedAt }) => openedAt, {
      cell: ({ openedAt }) => showAgo(new Date(openedAt), visit.view.now),
      sort: ['oldest', 'newest'],
    }),
    {
      label: 'Next billing',
      kind: 'minor',
      cell: ({ nextBillingAt: at }) =>
        at === null ? html`<span class="quiet">Unknown</span>` : showDay(visit, new Date(at)),
      file: {
        'Next billing (UTC)': ({ nextBillingAt: at }) =>
          at === null ? null : new Date(at).toISOString(),
      },
    },
    customer,
  ],
  fileHeads: [...fileHeads, 'Next billing (UTC)'],
  empty: (visit) =>
    html`<h2>Nothing is outstanding</h2>
      <p>A payment appears here when it fails, until it is paid or its subscription ends.</p>
      <p>${sourcesLink(visit)}</p>`,
});

/** A view of which only its end matters: of what is outstanding then. */
export function viewOfEnd(view: View): View {
  return view.period.until === view.now ? todayOf(view) : view;
}

export function openPath({ shop }: ShopVisit, view: View): `/app${string}` {
  return viewPath(shopPath(shop, '/recovery/open'), view);
}

/** When a view's period ends, in words. */
export function endOf(visit: ShopVisit, { period: { until }, now }: View): Html {
  return until === now ? html`now` : html`just before ${showTime(visit, new Date(until))}`;
}

/** What of a list of payments outstanding in the past is not of then. */
export function sinceThen(visit: ShopVisit, view: View): Html | undefined {
  if (view.period.until === view.now) return undefined;
  return html`Attempts, failure codes and dates are those of today.
    <a href="${openPath(visit, todayOf(view))}">See those outstanding now</a>`;
}
