import { type Html, html } from '../../http/html.ts';
import { isoTime } from '../../iso-time.ts';
import { day, monthBefore, seenFrom } from '../../metrics/bounds.ts';
import type { CaseOrder, OpenCaseRow } from '../../metrics/dunning/open-cases.ts';
import { type ClosedCases, type OpenCases, amountOf, totalOf } from '../../metrics/recovery.ts';
import { parseDecimal } from '../../money.ts';
import { listMembers } from '../../store/owners/owners.ts';
import * as column from '../framework/columns.ts';
import { timeSchema, valueSchema, wrongPlace } from '../framework/cursor.ts';
import { defineList } from '../framework/define-list.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import type { ShopVisit } from '../pages.ts';
import { formatCount, formatRate, rounded, showAgo, showDay } from '../ui/formats.ts';
import { failureWords } from '../ui/labels.ts';
import { ServiceError } from '../../errors.ts';
import { notOneOf } from '../view/choices.ts';
import { understood } from '../view/view.ts';
import {
  attempts,
  casePlace,
  codeFilter,
  codeParameter,
  endOf,
  payments,
  placeOfCase,
  sinceThen,
  viewOfEnd,
} from './cases.ts';
import { type OpenRow, contactForm, showContact } from './contacted.ts';

const openFilters = { code: codeFilter };

type OpenVisit = ListVisit<typeof openFilters, CaseOrder>;

/** More would be more than a choice. */
const maxCodes = 12;

const momentOf = ({ view: { period, now } }: OpenVisit) => ({ at: seenFrom(period, now), now });

/**
 * As of when a page lists what can be expected: of now, as of the first page, since odds change with the time.
 * @param first as the place of the page before has it
 * @throws ServiceError invalid, for one that is yet to come, or of more than a day ago
 */
function momentOfPage(visit: OpenVisit, order: CaseOrder, first: number | undefined) {
  const { at, now } = momentOf(visit);
  const isByOdds = order === 'expected' || order === 'unlikely';
  if (first === undefined || !isByOdds || at !== now) return { at, now };
  if (first > now) throw wrongPlace();
  if (first < now - day) {
    throw new ServiceError(
      'invalid',
      'This list is of more than a day ago. Begin at its first page.',
    );
  }
  return { at: first, now: first };
}

/** What all cases of the list come to, of those with any code. */
const openTotal = ({ filters: { code } }: OpenVisit, cases: readonly OpenCases[]) =>
  totalOf(cases.filter(({ failureCode }) => code === undefined || failureCode === code));

const orders = {
  expected: 'Most to recover first',
  unlikely: 'Least to recover first',
  oldest: 'Oldest first',
  newest: 'Newest first',
  amount: 'Highest amount first',
  lowest: 'Lowest amount first',
} as const;

/** What a list of open cases comes to. */
interface OpenSummary {
  readonly open: readonly OpenCases[];
  /** Those that closed in the 30 days before. */
  readonly closed: readonly ClosedCases[];
  /** A decimal; null if the odds of no case are known, and where it is not shown. */
  readonly expected: string | null;
}

/** The share of comparable cases that was recovered, and what is likely to come back. */
function showOdds(visit: ShopVisit, { closed, recovered, expected }: OpenCaseRow): Html {
  if (closed === null || recovered === null) return html`<span class="quiet">Unknown</span>`;
  return html`<small>${formatRate(visit, { share: recovered / closed, of: closed })}</small>
    ${column.moneyText(visit, likely(visit, expected))}`;
}

/** An amount that is likely to come back, rounded as amounts are. @param expected a decimal */
const likely = ({ shop }: ShopVisit, expected: string) => rounded(parseDecimal(expected), shop);

/** A date that has passed is that of the payment that failed. */
const isAhead = ({ view: { now } }: OpenVisit, at: number) => at > now;

/** The payments outstanding at the end of a period, as a queue of work. */
export const openCases = defineList<OpenRow, OpenSummary>()({
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
    options: (visit, { open }) =>
      Object.fromEntries(
        open
          .toSorted((a, b) => b.count - a.count)
          .slice(0, maxCodes)
          .map(({ failureCode, count }) => [
            codeParameter(failureCode),
            [`${failureWords(failureCode)} (${formatCount(visit, count)})`],
          ]),
      ),
  },
  orders,
  place: casePlace.extend({ expected: valueSchema, at: timeSchema }),
  placeOf: (row) => ({ ...placeOfCase(row), expected: row.expected, at: row.at }),
  async read(visit, page) {
    const { code } = visit.filters;
    const moment = momentOfPage(visit, page.order, page.after?.at);
    const [rows, members] = await Promise.all([
      figuresOf(visit, (figures) => figures.openCases({ ...moment, ...page, code })),
      listMembers(visit.parts.store.write, visit.shop.id),
    ]);
    const names = new Map(members.map(({ ownerId, name, email }) => [ownerId, name ?? email]));
    const { at } = moment;
    return rows.map((row) => ({ ...row, at, contact: names.get(row.contactedBy ?? '') }));
  },
  summarise: (visit) =>
    figuresOf(visit, async (figures) => {
      const { at } = momentOf(visit);
      const [open, closed, expected] = await Promise.all([
        figures.outstanding(at),
        figures.closed(monthBefore(at)),
        figures.expected({ at, code: visit.filters.code }),
      ]);
      const codes = open.map(({ failureCode }) => codeParameter(failureCode));
      const { code } = visit.texts;
      if (code !== undefined && codes.length > 0 && !codes.includes(code)) {
        throw new ServiceError(
          'invalid',
          notOneOf(code, 'a failure code of these payments', codes),
        );
      }
      return { open, closed, expected };
    }),
  count: (visit, { open }) => openTotal(visit, open).count,
  head(visit, summary) {
    const { shop, filters, view } = visit;
    const total = openTotal(visit, summary.open);
    const ofCode = summary.closed.filter(
      ({ result, failureCode }) =>
        result === 'recovered' && (filters.code === undefined || failureCode === filters.code),
    );
    const [owed, back] = [total, totalOf(ofCode)].map((cases) =>
      column.showMoney(visit, amountOf(cases, shop.currency)),
    );
    const { expected } = summary;
    return html`<p>
        ${payments(visit, total.count)} outstanding ${endOf(visit, view)}: ${owed} at stake,
        ${
          expected === null
            ? 'and how much of it is likely to come back is not known before a case has closed'
            : html`<strong>${column.showMoney(visit, likely(visit, expected))}</strong> of it likely
                to come back`
        }.
        ${back} came back in the 30 days before. ${sinceThen(visit, view)}
      </p>
      <p class="quiet">
        The odds are those of your own closed cases that came as far: with the same code, as many
        failed attempts, and as old.
      </p>`;
  },
  form: contactForm,
  columns: (visit) => [
    column.subscription,
    { ...column.customer, kind: undefined, isStyled: true },
    column.failure,
    column.money('Amount', ({ amount }) => Number(amount), {
      sort: ['lowest', 'amount'],
      sum: ({ open }, { shop }) => amountOf(openTotal(visit, open), shop.currency),
    }),
    column.money('Likely', ({ expected }) => likely(visit, expected), {
      cell: (row) => showOdds(visit, row),
      file: {
        Likely: ({ expected }) => likely(visit, expected),
        'Comparable cases': ({ closed }) => closed,
        'Of them recovered': ({ recovered }) => recovered,
      },
      sort: ['unlikely', 'expected'],
      sum: ({ expected }) => (expected === null ? undefined : likely(visit, expected)),
    }),
    {
      label: 'Contacted',
      isStyled: true,
      cell: (row, named) => showContact(named, row, visit.view.now),
      file: {
        'Contacted (UTC)': ({ contactedAt: at }) => (at === null ? null : isoTime(at)),
        'Contacted by': ({ contact = null }) => contact,
      },
    },
    { ...attempts, kind: 'minor' },
    column.time('First failed', ({ openedAt }) => openedAt, {
      kind: 'minor',
      cell: ({ openedAt }) => showAgo(new Date(openedAt), visit.view.now),
      sort: ['oldest', 'newest'],
    }),
    {
      label: 'Next billing',
      kind: 'minor',
      cell: ({ nextBillingAt: at }) => {
        if (at === null) return html`<span class="quiet">Unknown</span>`;
        return isAhead(visit, at) ? showDay(visit, new Date(at)) : '–';
      },
      file: {
        'Next billing (UTC)': ({ nextBillingAt: at }) =>
          at !== null && isAhead(visit, at) ? isoTime(at) : null,
      },
    },
  ],
  empty: {
    title: 'Nothing is outstanding',
    text: 'A payment appears here when it fails, until it is paid or its subscription ends.',
  },
});
