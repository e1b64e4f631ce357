import { html } from '../../http/html.ts';
import { day } from '../../metrics/bounds.ts';
import {
  type DaysAfter,
  type PriceChangeGroup,
  type PriceChangeRow,
  type PriceSums,
  daysAfter,
  listPriceChanges,
  listPriceGroups,
  maxPriceGroups,
  maxSummedPrices,
  sumPriceChanges,
} from '../../metrics/explain/price-changes.ts';
import { type Share, minCases, significanceOfShares } from '../../metrics/significance.ts';
import { summariseMetrics } from '../../metrics/summary.ts';
import { type Ratio, add, divide, parseDecimal, subtract } from '../../money.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import { choice, dayFilters, planFilter } from '../framework/address.ts';
import type { Choices } from '../view/choices.ts';
import * as column from '../framework/columns.ts';
import { positionSchema } from '../framework/cursor.ts';
import { defineList } from '../framework/define-list.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import type { ListVisit } from '../framework/list.ts';
import type { FiguresVisit } from '../framework/page.ts';
import { shopPath } from '../site.ts';
import { planOptions } from '../ui/fields.ts';
import {
  countOf,
  formatCount,
  formatRate,
  moneyFormat,
  rateBase,
  rounded,
  showDay,
  signedFormat,
} from '../ui/formats.ts';
import { choices, showPeriod } from '../view/picker.ts';
import { isoDay, partOf, viewPath } from '../view/view.ts';

const leftWithin = Object.fromEntries(daysAfter.map((days) => [days, [`${days} days`]])) as Record<
  DaysAfter,
  [string]
>;
const withinParameter = 'within';
const longest = '90';
/** What the page that has the table can choose. */
export const priceChoices: Choices = { [withinParameter]: ['a number of days', daysAfter] };

const directions = { rose: ['Rose'], fell: ['Fell'] } as const;

/** A change with what the shop lost meanwhile. */
interface PriceChange extends PriceChangeGroup {
  /** Of the days after it, as many as have been. */
  readonly since: { readonly from: number; readonly until: number };
  /** The churn rate of the whole shop in them. */
  readonly churn: Share;
}

export interface PriceChanges {
  readonly until: number;
  readonly within: DaysAfter;
  readonly changes: readonly PriceChange[];
}

/** The changes of the year until the end of the period: it takes months to see what one did. */
export async function readPriceChanges({ parts, shop, view, query }: FiguresVisit) {
  const { until, from } = view.period;
  const within = daysAfter.find((days) => days === query.get(withinParameter)) ?? longest;
  const period = { from: Math.min(from, until - 365 * day), until };
  return parts.store.readRecent(shop.id, async ({ analyse }): Promise<PriceChanges> => {
    const groups = await listPriceGroups(analyse, shop.id, period, within);
    const byDay = new Map(
      await Promise.all(
        [...new Set(groups.map((each) => each.day))].map(async (at) => {
          const since = { from: at, until: Math.min(at + Number(within) * day, view.now) };
          const { churned, atRisk } = await summariseMetrics(analyse, shop.id, view.now, since);
          const churn = { share: atRisk === 0 ? 0 : churned / atRisk, of: atRisk };
          return [at, { since, churn }] as const;
        }),
      ),
    );
    const changes = groups.flatMap((each) => {
      const meanwhile = byDay.get(each.day);
      return meanwhile ? [{ ...each, ...meanwhile }] : [];
    });
    return { until, within, changes };
  });
}

/** What changes of prices of many subscriptions did: what they added, who left since, and what remains. */
export function pricesTable(
  visit: FiguresVisit,
  { until, within, changes }: PriceChanges,
): Exhibit {
  const { shop } = visit;
  const money = moneyFormat(visit);
  const amountOf = (decimal: string) => rounded(parseDecimal(decimal), shop);
  const each = (sum: Ratio, { count }: PriceChange) =>
    money(rounded(divide(sum, { numerator: BigInt(count), denominator: 1n }), shop));
  const rateOf = ({ left, count }: PriceChange) => ({ share: left / count, of: count });
  const rowsOf = ({ day: at, planId, isRise }: PriceChange, more: object = {}) => {
    const range = { from: isoDay(at), to: isoDay(at) };
    const path = shopPath(shop, '/revenue/prices');
    const change = isRise ? 'rose' : 'fell';
    const filters = { change, 'price-plan': String(planId), ...more };
    return viewPath(path, { range, comparison: 'before' }, filters);
  };
  const churnOf = ({ since }: PriceChange) => {
    const range = { from: isoDay(since.from), to: isoDay(since.until - 1) };
    return viewPath(shopPath(shop, '/churn'), { range, comparison: 'before' });
  };
  const amount = (label: string, value: (row: PriceChange) => number, more: object = {}) => ({
    label,
    kind: 'amount' as const,
    cell: (row: PriceChange) => signedFormat(money)(value(row)),
    file: { [label]: value, ...more },
  });
  return tableExhibit<PriceChange>({
    id: 'prices',
    noun: 'price-changes',
    title: 'What price changes did',
    switches: choices(
      visit,
      { name: withinParameter, label: 'Left within', shown: within, initial: longest },
      Object.entries(leftWithin).map(([days, [label]]) => [days, `Left within ${label}`]),
    ),
    caption: html`Days in the year until ${showDay(visit, new Date(until - 1))} on which ${minCases}
    or more subscriptions of a plan became worth more, or less: a price, a quantity or a discount
    changed, and records do not say which. Net is what the change added, less what those who left
    since were worth a month.`,
    look: 'parts',
    isWide: true,
    narrow: 'stacks',
    rows: changes,
    none: changes.length === 0 ? 'None.' : undefined,
    note:
      changes.length === maxPriceGroups &&
      html`<p class="quiet">The ${maxPriceGroups} that changed MRR most.</p>`,
    columns: [
      {
        label: 'Change',
        kind: 'head',
        cell: (row) =>
          html`${row.planName}
            <small
              >${showDay(visit, new Date(row.day))}: ${each(parseDecimal(row.was), row)} to
              ${each(add(parseDecimal(row.was), parseDecimal(row.added)), row)} each</small
            >`,
        href: (row) => rowsOf(row),
        file: {
          'Day (UTC)': (row) => isoDay(row.day),
          'Plan number': (row) => row.planId,
          Plan: (row) => row.planName,
        },
      },
      {
        ...amount('Net', (row) =>
          rounded(subtract(parseDecimal(row.added), parseDecimal(row.lost)), shop),
        ),
        kind: 'amount main',
      },
      {
        label: 'Subscriptions',
        kind: 'number',
        cell: ({ count }) => formatCount(visit, count),
        file: { Subscriptions: ({ count }) => count },
      },
      amount('MRR added', ({ added }) => amountOf(added), {
        'MRR before': ({ was }: PriceChange) => amountOf(was),
      }),
      {
        label: 'Left since',
        kind: 'number',
        cell: (row) =>
          html`${formatRate(visit, rateOf(row))} ${rateBase(visit, row.left, row.count)}
          ${significanceOfShares(row.churn, rateOf(row)).doubt && html`<small>may be chance</small>`}`,
        href: (row) => (row.left > 0 ? rowsOf(row, { left: within }) : undefined),
        file: { [`Left within ${within} days`]: ({ left }) => left },
      },
      amount('MRR lost', ({ lost }) => 0 - amountOf(lost), { Currency: () => shop.currency }),
      {
        label: 'Churn of the shop',
        kind: 'number',
        cell: ({ churn }) => html`${formatRate(visit, churn)} <small>in those days</small>`,
        href: churnOf,
        file: { 'Churn rate of the shop': ({ churn }) => churn.share },
      },
    ],
  });
}

const priceFilters = {
  change: choice('a direction', directions),
  'price-plan': planFilter,
  left: choice('a number of days', leftWithin),
  ...dayFilters,
};

type Visit = ListVisit<typeof priceFilters, TimeOrder>;

const periodOf = ({ view: { period }, filters }: Visit) => partOf(period, filters);

const filterOf = ({ filters: { change, 'price-plan': planId, left } }: Visit) => ({
  planId,
  isRise: change && change === 'rose',
  within: left,
});

interface Summary {
  /** Undefined if they are too many. */
  readonly sums: PriceSums | undefined;
  readonly planNames: ReadonlyMap<number, string>;
}

/** The subscriptions that became worth more or less while they were active, and which of them left since. */
export const prices = defineList<PriceChangeRow, Summary>()({
  path: '/revenue/prices',
  title: 'Price changes',
  label: 'Price changes',
  hint: 'Rises of prices, and who left after them',
  parent: '/revenue',
  noun: 'changes',
  fileNoun: 'prices',
  caption: 'Subscriptions whose price changed',
  pickers: ['period'],
  endWithView: ['first', 'last'],
  filters: priceFilters,
  links: { name: 'change', label: 'Change', options: directions },
  selects: [
    {
      name: 'price-plan',
      label: 'Plan',
      none: 'All',
      options: ({ planNames }) => planOptions(planNames),
    },
    {
      name: 'left',
      label: 'Left within',
      none: 'Any, or stayed',
      options: () => Object.entries(leftWithin).map(([days, [label]]) => [days, label]),
    },
  ],
  orders: { newest: 'The last to change first', oldest: 'The first to change first' },
  place: positionSchema,
  placeOf: ({ at, subscriptionId }) => ({ createdAt: at, id: subscriptionId }),
  read: (visit, page) =>
    visit.parts.store.readRecent(visit.shop.id, ({ analyse }) =>
      listPriceChanges(analyse, visit.shop.id, periodOf(visit), { ...page, ...filterOf(visit) }),
    ),
  summarise: (visit) =>
    visit.parts.store.readRecent(visit.shop.id, async ({ analyse }) => {
      const [sums, planNames] = await Promise.all([
        sumPriceChanges(analyse, visit.shop.id, periodOf(visit), filterOf(visit)),
        listPlanNames(analyse, visit.shop.id),
      ]);
      return { sums, planNames };
    }),
  count: (_, { sums }) => sums?.count ?? { moreThan: maxSummedPrices },
  head(visit, { sums }) {
    const { shop, filters } = visit;
    const money = (decimal: string, plus?: string) =>
      html`<strong>${column.showMoney(visit, rounded(parseDecimal(decimal), shop), plus)}</strong>`;
    const then = filters.left === undefined ? 'since' : `within ${filters.left} days`;
    return html`${
        sums &&
        html`<p>
          <strong>${countOf(visit, sums.subscriptions, 'subscription')}</strong> changed price
          ${showPeriod(visit, periodOf(visit))}, ${money(sums.added, '+')} of MRR.
          ${countOf(visit, sums.left, 'of them left', 'of them left')} ${then}, worth
          ${money(sums.lost)} a month.
        </p>`
      }
      <p class="quiet">
        What they were worth a month before and after: a price, a quantity or a discount changed,
        and records do not say which. Left counts who is cancelled or failed now. Times are in UTC.
      </p>`;
  },
  columns: (visit) => [
    column.customerHead,
    column.itsSubscription,
    column.numberedPlan,
    column.decimal('Was', ({ was }) => was, { head: 'Worth a month before', kind: 'minor number' }),
    column.decimal('Worth', ({ became }) => became, { head: 'Worth a month' }),
    {
      ...column.money('Added', addedBy, { kind: 'number' }),
      cell: (row) => column.showMoney(visit, addedBy(row, visit), '+'),
      sum: ({ sums }) =>
        sums && column.showMoney(visit, rounded(parseDecimal(sums.added), visit.shop), '+'),
    },
    column.decimal('Lost', ({ lost }) => lost, {
      head: 'Worth a month when it left',
      kind: 'minor number',
    }),
    column.time('Changed', ({ at }) => at, { kind: undefined, sort: ['oldest', 'newest'] }),
    {
      label: 'Left',
      cell: ({ leftAt }) => (leftAt === null ? '–' : showDay(visit, new Date(leftAt))),
      file: { 'Left (UTC)': ({ leftAt }) => leftAt && new Date(leftAt).toISOString() },
    },
  ],
  empty: {
    title: 'No price changed',
    text: 'No active subscription became worth more or less in this period.',
  },
});

const addedBy = ({ was, became }: PriceChangeRow, { shop }: Pick<Visit, 'shop'>) =>
  rounded(subtract(parseDecimal(became), parseDecimal(was)), shop);
