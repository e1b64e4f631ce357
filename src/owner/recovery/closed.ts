import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type ClosedCaseRow,
  type Range,
  type ClosedCases,
  type Result,
  retriesOf,
  amountOf,
  totalOf,
} from '../../metrics/recovery.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import { choice, dayFilters } from '../framework/filters.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { defineList } from '../framework/page.ts';
import { positionSchema } from '../framework/place.ts';
import type { Tone } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { partOf } from '../view/days.ts';
import { showPeriod } from '../view/picker.ts';
import { viewPath } from '../view/view.ts';
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

const resultLabels: Readonly<Record<Result, readonly [label: string, tone: Tone]>> = {
  recovered: ['Recovered', 'good'],
  lost: ['Lost', 'bad'],
};

const most = 1_000_000;

/** Such as 2, or 4+ for 4 or more. */
const rangeNamed = (name: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,2}\+?$/, {
      error: `${name} must be a number from 1 to 999, such as 2, or 4+ for 4 or more.`,
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
  result: choice('result', resultLabels),
};

type Visit = ListVisit<typeof closedFilters, TimeOrder>;

function filterOf({ view: { period }, filters }: Visit) {
  const { result, code, attempts: failed = [1, most], retries = [0, most] } = filters;
  return { ...partOf(period, filters), result, code, attempts: failed, retries } as const;
}

const isIn = (count: number, [min, max]: Range) => count >= min && count <= max;

/** What all cases of the list come to, of those that closed on its days. */
function totalIn(visit: Visit, cases: readonly ClosedCases[]) {
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
  label: 'Closed cases',
  hint: 'Recovered and lost payments',
  parent: '/recovery',
  noun: 'payments',
  fileNoun: 'closed-payments',
  caption: 'Recovered and lost payments',
  pickers: ['period', 'segment'],
  filters: closedFilters,
  links: { name: 'result', label: 'Result', options: resultLabels },
  orders: { newest: 'The last to close first', oldest: 'The first to close first' },
  place: casePlace.extend({ closedAt: positionSchema.shape.createdAt }),
  placeOf: ({ openedAt, subscriptionId, position, closedAt }) => ({
    openedAt,
    subscriptionId,
    position,
    closedAt,
  }),
  read: (visit, page) =>
    figuresOf(visit, (figures) =>
      figures.closedCases(filterOf(visit), { ...page, order: visit.order }),
    ),
  summarise: (visit) => figuresOf(visit, (figures) => figures.closed(filterOf(visit))),
  head: (visit, cases) =>
    html`<p>
      ${payments(visit, totalIn(visit, cases).count)} ${visit.filters.result ?? 'recovered or lost'}
      ${showPeriod(visit, filterOf(visit))} (UTC).
    </p>`,
  above: filterNote,
  columns: (visit) => [
    column.subscription,
    failure,
    column.money('Amount', ({ amount }) => Number(amount), {
      sum: (cases, { shop }) => amountOf(totalIn(visit, cases), shop.currency),
    }),
    column.state('Result', ({ result }) => resultLabels[result], {
      file: { Result: ({ result }) => result },
    }),
    column.time('Closed', ({ closedAt }) => closedAt, { sort: ['oldest', 'newest'] }),
    { ...attempts, kind: 'minor' },
    column.time('First failed', ({ openedAt }) => openedAt, { kind: 'minor' }),
    customer,
  ],
  fileHeads: [...fileHeads, 'Closed (UTC)', 'Result'],
  empty: () =>
    html`<h2>Nothing closed in this period</h2>
      <p>A failed payment closes when it is paid, or when its subscription ends.</p>`,
});

/** Which filters hold beside those that can be chosen on the page. */
function filterNote({ shop, view, texts }: Visit): Html | undefined {
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
