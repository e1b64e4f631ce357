import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { html } from '../../http/html.ts';
import {
  type CustomerOrder,
  type CustomerRow,
  type Risk,
  countCustomers,
  listCustomers,
  maxSigns,
} from '../../metrics/customers.ts';
import { monthBefore } from '../../metrics/bounds.ts';
import { toSummary } from '../../metrics/figures.ts';
import { parseDecimal } from '../../money.ts';
import { choice } from '../framework/address.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import { defineList } from '../framework/define-list.ts';
import {
  type ListVisit,
  type RowCount,
  figuresOf,
  upTo,
  timeOrders,
  valueOrders,
} from '../framework/list.ts';
import { maxCounted } from '../../metrics/segments/subscriptions.ts';
import type { ShopVisit } from '../pages.ts';
import { countOf, formatCount, rounded } from '../ui/formats.ts';
import { type Tone, state } from '../ui/labels.ts';

/** Each with what its customers have. */
const riskLabels: Readonly<Record<Risk, readonly [label: string, tone: Tone, having: string]>> = {
  failing: ['Payment failed', 'risk', 'a failed payment that is still open'],
  skipping: [
    'Skips often',
    'risk',
    'two or more skipped orders in 180 days and a live subscription',
  ],
  leaving: [
    'Cancel flow',
    'risk',
    'a cancel-flow session in the last 90 days and a live subscription',
  ],
};

const customerFilters = { risk: choice('a risk', riskLabels) };

type Visit = ListVisit<typeof customerFilters, CustomerOrder>;

interface Summary extends ReturnType<typeof toSummary> {
  readonly customers: RowCount;
}

const { createdAt: since, id: customerId } = positionSchema.shape;

/** Everyone who has or had a subscription, with what they are worth. */
export const customers = defineList<CustomerRow, Summary>()({
  path: '/customers',
  title: 'Customers',
  label: 'Customers',
  navigation: { group: 'Data', icon: 'account' },
  noun: 'customers',
  caption: 'Customers',
  pickers: [],
  filters: customerFilters,
  links: { name: 'risk', label: 'Risk', options: riskLabels },
  orders: { ...valueOrders, ...timeOrders },
  place: z.object({ customerId, since, value: valueSchema }),
  placeOf: ({ customerId: id, since: at, value }) => ({ customerId: id, since: at, value }),
  read: ({ parts, shop, view, filters }, page) =>
    parts.store.readRecent(shop.id, ({ analyse }) =>
      listCustomers(analyse, shop.id, view.now, { ...page, risk: filters.risk }),
    ),
  // With a filter, each read finds all that match.
  rowsPerRead: 1_000,
  async summarise(visit) {
    const { parts, shop, view } = visit;
    const { now } = view;
    const [row, found] = await Promise.all([
      figuresOf(visit, (figures) => figures.summary(monthBefore(now), now)),
      parts.store.readRecent(shop.id, ({ analyse }) =>
        countCustomers(analyse, shop.id, now, maxCounted + 1),
      ),
    ]);
    return { ...toSummary(row, shop.currency, now), customers: upTo(maxCounted, found) };
  },
  count({ filters: { risk } }, { customers: all }, [first]) {
    if (risk === undefined) return all;
    return first?.isCut ? { moreThan: first.total } : first?.total;
  },
  head(visit, { activeSubscribers, mrr }, rows) {
    const { risk } = visit.filters;
    return html`<p>
        ${
          risk === undefined
            ? html`<strong>${countOf(visit, activeSubscribers, 'customer')}</strong> with an active
                subscription, worth ${column.showMoney(visit, mrr)} a month.`
            : html`<strong>${countOf(visit, rows[0]?.total ?? 0, 'customer')}</strong> with
                ${riskLabels[risk][2]}.`
        }
      </p>
      <p class="quiet">
        ${
          rows[0]?.isCut &&
          `There are more: these are of the newest ${formatCount(visit, maxSigns)} sessions or failed payments.`
        }
        Worth is the MRR of today. Subscriptions in a trial are worth nothing yet, but are sorted by
        what they are worth after it. Paid is all payments less refunds. Times are in UTC.
      </p>`;
  },
  columns: (visit: Visit) => [
    column.customerHead,
    {
      label: 'Subscriptions',
      isStyled: true,
      cell: ({ active, subscriptions }) =>
        `${formatCount(visit, active)} of ${formatCount(visit, subscriptions)} active`,
      file: {
        'Active subscriptions': ({ active }) => active,
        Subscriptions: ({ subscriptions }) => subscriptions,
      },
    },
    column.money('Worth', ({ mrr }) => rounded(mrr, visit.shop), {
      cell: (row) =>
        html`${row.trials > 0 && html`<span class="quiet">${column.showMoney(visit, later(row, visit))} after trial</span> `}
        ${column.showMoney(visit, rounded(row.mrr, visit.shop))}`,
      // The first says how they are sorted.
      file: {
        'Value after trials': later,
        Value: ({ mrr }) => rounded(mrr, visit.shop),
        Currency: () => visit.shop.currency,
      },
      sort: ['lowest', 'highest'],
      sum: ({ mrr }) => (visit.filters.risk === undefined ? mrr : undefined),
    }),
    column.decimal('Paid', ({ paid }) => paid, { kind: 'minor number' }),
    {
      label: 'Risk',
      kind: 'state',
      cell: (row) => risksOf(row).map(([label, tone]) => html`${state([label, tone])} `),
      file: {
        Risk: (row) =>
          risksOf(row)
            .map(([label]) => label)
            .join(', '),
      },
    },
    column.time('Since', (row) => row.since, { sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'No customers yet',
    text: 'They appear here by number, with what they are worth, once a source brings subscriptions.',
    isOfSource: true,
    sample: [
      ['Customer', 'Active', 'Worth', 'Paid'],
      ['1042', '2 of 3', '84.00', '1,260.00'],
      ['1187', '1 of 1', '42.00', '336.00'],
      ['1140', '1 of 1', '42.00', '84.00'],
      ['1121', '1 of 2', '36.00', '720.00'],
      ['1066', '1 of 1', '21.00', '63.00'],
      ['1093', '0 of 1', '0.00', '190.00'],
    ],
  },
});

/** The risks that they have. */
export const risksOf = ({ risks }: CustomerRow) =>
  Object.entries(riskLabels).flatMap(([risk, label]) => (risks[risk as Risk] ? [label] : []));

/** What they are worth once all trials have ended. */
const later = ({ value }: CustomerRow, { shop }: ShopVisit) => rounded(parseDecimal(value), shop);
