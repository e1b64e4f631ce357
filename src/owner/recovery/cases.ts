import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type CaseRow,
  type ClosedCaseRow,
  type ClosedOrder,
  type Range,
  type ClosedCases,
  type Result,
  retriesOf,
  amountOf,
  totalOf,
} from '../../metrics/recovery.ts';
import { failureCodeForm, failureCodePattern } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import type { Column } from '../framework/columns.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import { choice, dayFilters } from '../framework/address.ts';
import { shopPath } from '../site.ts';
import { formatCount, countOf, showTime } from '../ui/formats.ts';
import { type Tone, failureWords } from '../ui/labels.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { type View, todayOf, viewPath, partOf } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { defineList } from '../framework/define-list.ts';

/*
 * What the lists of open and of closed cases have in common.
 */

/** In addresses, cases without a failure code; no code has parentheses. */
const noCode = '(none)';

export function codeParameter(code: string | null): string {
  return code ?? noCode;
}

/** null: only cases without a code; undefined: any. */
export const codeFilter = z
  .string()
  .refine((text) => text === noCode || failureCodePattern.test(text), {
    error: ({ input }) =>
      `“${input}” is not a failure code. Write ${failureCodeForm}, or ${noCode}.`,
  })
  .transform((text) => (text === noCode ? null : text))
  .optional();

const { createdAt: time, id } = positionSchema.shape;

/** The place of a case; each list adds what else it is sorted by. */
export const casePlace = z.object({
  openedAt: time,
  subscriptionId: id,
  position: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  amount: valueSchema,
});

export const placeOfCase = ({ openedAt, subscriptionId, position, amount }: CaseRow) => ({
  openedAt,
  subscriptionId,
  position,
  amount,
});

export const attempts: Column<CaseRow> = {
  label: 'Attempts',
  kind: 'number',
  cell: ({ attempts: count }, visit) => `${formatCount(visit, count)} failed`,
  file: { 'Failed attempts': ({ attempts: count }) => count },
};

/** A number of payments. */
export function payments(visit: ShopVisit, count: number): Html {
  return html`<strong>${countOf(visit, count, 'payment')}</strong>`;
}

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

export const resultLabels: Readonly<Record<Result, readonly [label: string, tone: Tone]>> = {
  recovered: ['Recovered', 'kept'],
  lost: ['Lost', 'lost'],
};

const most = 1_000_000;

/** Such as 2, or 4+ for 4 or more. */
const rangeNamed = (name: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,2}\+?$/, {
      error: ({ input }) =>
        `“${input}” is not a number of ${name}. Write one from 1 to 999, such as 2, or 4+ for 4 or more.`,
    })
    .transform((text): Range => {
      const min = Number.parseInt(text, 10);
      return [min, text.endsWith('+') ? most : min];
    })
    .optional();

/** All but the result come from the links of figures. */
const closedFilters = {
  code: codeFilter,
  attempts: rangeNamed('attempts'),
  retries: rangeNamed('retries'),
  ...dayFilters,
  result: choice('a result', resultLabels),
};

type ClosedVisit = ListVisit<typeof closedFilters, ClosedOrder>;

function filterOf({ view: { period }, filters }: ClosedVisit) {
  const { result, code, attempts: failed, retries } = filters;
  return { ...partOf(period, filters), result, code, attempts: failed, retries };
}

const isIn = (count: number, range: Range | undefined) =>
  !range || (count >= range[0] && count <= range[1]);

/** What all cases of the list come to, of those that closed on its days. */
function totalIn(visit: ClosedVisit, cases: readonly ClosedCases[]) {
  const filter = filterOf(visit);
  return totalOf(
    cases.filter(
      (each) =>
        (filter.result === undefined || each.result === filter.result) &&
        (filter.code === undefined || each.failureCode === filter.code) &&
        isIn(each.attempts, filter.attempts) &&
        isIn(retriesOf(each), filter.retries),
    ),
  );
}

/** The failed payments that were recovered or lost in a period. */
export const closedCases = defineList<ClosedCaseRow, readonly ClosedCases[]>()({
  path: '/recovery/closed',
  title: 'Recovered and lost payments',
  label: 'Recovered and lost payments',
  hint: 'Closed cases',
  parent: '/recovery',
  noun: 'payments',
  fileNoun: 'closed-payments',
  caption: 'Recovered and lost payments',
  pickers: ['period', 'segment'],
  filters: closedFilters,
  links: { name: 'result', label: 'Result', options: resultLabels },
  orders: {
    newest: 'The last to close first',
    oldest: 'The first to close first',
    amount: 'Highest amount first',
    lowest: 'Lowest amount first',
  },
  place: casePlace.extend({ closedAt: time }),
  placeOf: (row) => ({ ...placeOfCase(row), closedAt: row.closedAt }),
  read: (visit, page) => figuresOf(visit, (figures) => figures.closedCases(filterOf(visit), page)),
  summarise: (visit) => figuresOf(visit, (figures) => figures.closed(filterOf(visit))),
  count: (visit, cases) => totalIn(visit, cases).count,
  head: (visit, cases) =>
    html`<p>
      ${payments(visit, totalIn(visit, cases).count)} ${visit.filters.result ?? 'recovered or lost'}
      ${showPeriod(visit, filterOf(visit))} (UTC).
    </p>`,
  above: filterNote,
  columns: (visit) => [
    column.subscription,
    column.failure,
    column.money('Amount', ({ amount }) => Number(amount), {
      sort: ['lowest', 'amount'],
      sum: (cases, { shop }) => amountOf(totalIn(visit, cases), shop.currency),
    }),
    column.state('Result', ({ result }) => resultLabels[result]),
    column.time('Closed', ({ closedAt }) => closedAt, { sort: ['oldest', 'newest'] }),
    { ...attempts, kind: 'minor' },
    column.time('First failed', ({ openedAt }) => openedAt, { kind: 'minor' }),
    column.customer,
  ],
  empty: {
    title: 'Nothing closed in this period',
    text: 'A failed payment closes when it is paid, or when its subscription ends.',
  },
});

/** Which filters hold beside those that can be chosen on the page. */
function filterNote({ shop, view, texts }: ClosedVisit): Html | undefined {
  const { code, attempts: failed, retries, first, last } = texts;
  const notes = [
    code === undefined ? [] : failureWords(code === codeParameter(null) ? null : code),
    failed === undefined ? [] : `failed attempts: ${failed.replace('+', ' or more')}`,
    retries === undefined ? [] : `attempts to collect: ${retries.replace('+', ' or more')}`,
    first === undefined ? [] : `from ${first} (UTC)`,
    last === undefined ? [] : `to ${last} (UTC)`,
  ].flat();
  if (notes.length === 0) return undefined;
  return html`<p class="quiet">
    Only ${notes.join(', ')}.
    <a href="${viewPath(shopPath(shop, '/recovery/closed'), view)}">See all</a>
  </p>`;
}
