import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { ServiceError } from '../../errors.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { listCounted, listSegmentSubscriptions } from '../../metrics/segments/lists.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import type { subscription } from '../../operations/shapes.ts';
import type { JsonRows, Paging } from '../../store/records/listing.ts';
import {
  type Interval,
  listIntervals,
  listSubscriptions,
  listSubscriptionsOfCustomer,
} from '../../store/records/subscriptions.ts';
import { defineList } from '../framework/page.ts';
import { positionSchema } from '../framework/place.ts';
import type { ShopVisit } from '../pages.ts';
import { everyInterval, statusLabels } from '../ui/labels.ts';
import { sourcesLink } from '../ui/layout.ts';
import { formatMoney } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { selectionOf, understood } from '../view/view.ts';
import { type SubscriptionsVisit, figureIn, subscriptionFilters } from './filters.ts';
import {
  type FigureCount,
  countFigure,
  countedIn,
  figureHead,
  figureLabels,
  happenings,
} from './of-figure.ts';

interface SubscriptionRow extends z.infer<typeof subscription> {
  /** When what the list is of happened, epoch milliseconds, if it is of a figure. */
  readonly happenedAt?: number;
  /** Undefined if the subscription was deleted in the meantime. */
  readonly interval: Interval | undefined;
}

/** The subscriptions of a customer, or of the figure or segment in the address, or all of the shop's. */
export const list = defineList<SubscriptionRow, FigureCount | undefined>()({
  path: '/subscriptions',
  title: 'Subscriptions',
  label: 'Subscriptions',
  navigation: { group: 'Data', icon: 'subscriptions', isInBar: true },
  noun: 'subscriptions',
  caption: (visit) => {
    const happening = happeningIn(visit)?.toLowerCase();
    const last = visit.order === 'newest' ? 'last' : 'first';
    return `Subscriptions, ${happening ? `the ${last} ${happening}` : visit.order} first`;
  },
  pickers: (query) => {
    if (query.get('customer')) return [];
    return query.get('figure') ? ['period', 'segment'] : ['segment'];
  },
  view(view, query) {
    if (query.get('figure')) return understood(view);
    // A status that is none has the API's message.
    const others = new URLSearchParams(query);
    others.delete('status');
    const { segment, problem = segment && view.problem } = parseSegment(others);
    if (problem !== undefined) throw new ServiceError('invalid', problem);
    return { ...view, range: { days: 30 }, comparison: 'before' };
  },
  filters: subscriptionFilters,
  links: (visit) =>
    figureIn(visit)
      ? { name: 'figure', label: 'Figure', options: figureLabels }
      : { name: 'status', label: 'Status', options: statusLabels },
  orders: { newest: 'Newest first', oldest: 'Oldest first' },
  place: positionSchema,
  placeOf: ({ subscriptionId: id, createdAt, happenedAt = Date.parse(createdAt) }) => ({
    createdAt: happenedAt,
    id,
  }),
  async read(visit, page) {
    const rows = await readRows(visit, page);
    const ids = rows.map(({ subscriptionId }) => subscriptionId);
    const intervals = await visit.parts.store.readRecent(visit.shop.id, ({ subscriptions }) =>
      listIntervals(subscriptions, visit.shop.id, ids),
    );
    return rows.map((row) => ({ ...row, interval: intervals.get(row.subscriptionId) }));
  },
  summarise: async (visit) => {
    const figure = figureIn(visit);
    return figure && countFigure(visit, figure);
  },
  head(visit, count) {
    const figure = figureIn(visit);
    return figure && figureHead(visit, figure, count);
  },
  columns(visit) {
    const happening = happeningIn(visit);
    const nextBilling: column.Column<SubscriptionRow> = {
      label: 'Next billing',
      kind: 'date',
      cell: (row) => showNextBilling(visit, row),
      file: { 'Next billing (UTC)': ({ nextBillingDate }) => nextBillingDate },
    };
    const byTime = ['oldest', 'newest'] as const;
    return [
      column.subscription,
      column.customer,
      column.numberedPlan,
      column.state('Status', ({ status }) => statusLabels[status]),
      {
        label: 'Value',
        kind: 'amount',
        cell: ({ currentPrice, interval }) => showValue(visit, currentPrice, interval),
        file: {
          'Price per cycle': ({ currentPrice }) => currentPrice,
          Currency: (_, { shop }) => shop.currency,
          'Billed every (count)': ({ interval }) => interval?.count ?? null,
          'Billed every (unit)': ({ interval }) => interval?.unit ?? null,
        },
      },
      ...(happening
        ? [
            { ...nextBilling, cell: undefined },
            column.time<SubscriptionRow, FigureCount | undefined>(
              happening,
              ({ happenedAt = 0 }) => happenedAt,
              { sort: byTime },
            ),
          ]
        : [nextBilling]),
      column.time('Created', ({ createdAt }) => Date.parse(createdAt), {
        kind: 'minor',
        sort: happening ? undefined : byTime,
      }),
    ];
  },
  fileHeads: [
    'Subscription',
    'Customer',
    'Plan number',
    'Plan',
    'Status',
    'Price per cycle',
    'Currency',
    'Billed every (count)',
    'Billed every (unit)',
    'Next billing (UTC)',
    'Created (UTC)',
    ...Object.values(happenings).map((happening) => `${happening} (UTC)`),
  ],
  empty: (visit) =>
    html`<h2>No subscriptions yet</h2>
      <p>
        Subscriptions appear here with their customer, plan, value per cycle and next billing date,
        once a source brings them.
      </p>
      <p>${sourcesLink(visit)}</p>`,
});

function happeningIn(visit: SubscriptionsVisit): string | undefined {
  const figure = figureIn(visit);
  return figure && happenings[figure];
}

async function readRows(
  visit: SubscriptionsVisit,
  page: Paging,
): Promise<readonly Omit<SubscriptionRow, 'interval'>[]> {
  const { parts, shop, view, filters } = visit;
  const { customer, status } = filters;
  const figure = figureIn(visit);
  if (customer !== undefined) {
    // No customer has a greater number, and the database could not even store some.
    if (!Number.isSafeInteger(customer)) return [];
    return rowsOf(
      await parts.store.readRecent(shop.id, (from) =>
        listSubscriptionsOfCustomer(from.subscriptions, shop.id, customer, { ...page, status }),
      ),
    );
  }
  const selection = selectionOf(view);
  if (figure) {
    const found = await parts.store.readRecent(shop.id, (from) =>
      listCounted(from, shop.id, countedIn(visit, figure), page, selection),
    );
    return found.map(({ json, happenedAt }) => ({ ...JSON.parse(json), happenedAt }));
  }
  const { status: _, ...conditions } = view.segment ?? {};
  return rowsOf(
    await parts.store.readRecent(shop.id, (from) =>
      selection && Object.keys(conditions).length > 0
        ? listSegmentSubscriptions(from, shop.id, selection, page)
        : listSubscriptions(from.subscriptions, shop.id, { ...page, status }),
    ),
  );
}

const rowsOf = ({ rows }: JsonRows): Omit<SubscriptionRow, 'interval'>[] => JSON.parse(`[${rows}]`);

/** The value per cycle and the billing interval. */
export function showValue(visit: ShopVisit, price: number, interval: Interval | undefined): Html {
  return html`${formatMoney(visit, visit.shop, price)}
  ${interval && html`<span class="quiet every">${everyInterval(visit, interval)}</span>`}`;
}

/** The last known billing date; in the past tense if the subscription has ended. */
export function showNextBilling(
  visit: ShopVisit,
  { status, nextBillingDate: at }: Pick<SubscriptionRow, 'status' | 'nextBillingDate'>,
): HtmlValue {
  if (at === null) return html`<span class="quiet">Unknown</span>`;
  const day = showDay(visit, new Date(at));
  return status === 'active' || status === 'paused'
    ? day
    : html`<span class="quiet">was ${day}</span>`;
}
