import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { ServiceError } from '../../errors.ts';
import { parseDecimal } from '../../money.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import {
  type CountedFigure,
  type Counted,
  listCounted,
  listSegmentSubscriptions,
  countedFigures,
} from '../../metrics/segments/lists.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import type { subscription } from '../../operations/answer-schemas.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import {
  type Interval,
  type SubscriptionOrder,
  type SubscriptionPaging,
  isByValue,
  countSubscriptions,
  listSubscriptionsOfCustomer,
  listSubscriptionsShown,
} from '../../store/records/subscriptions.ts';
import { defineList } from '../framework/define-list.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import { choice, dayFilters } from '../framework/address.ts';
import type { ShopVisit } from '../pages.ts';
import { everyInterval, statusLabels } from '../ui/labels.ts';
import { formatMoney, rounded, showDay, countOf, showTime } from '../ui/formats.ts';
import { type View, understood, partOf, segmentOf, viewPath } from '../view/view.ts';
import { monthlyValue } from '../../mrr.ts';
import { shopPath } from '../site.ts';
import { endedStatuses, subscriptionStatuses } from '../../vocabulary.ts';
import {
  type ListVisit,
  type RowCount,
  figuresOf,
  upTo,
  timeOrders,
  valueOrders,
} from '../framework/list.ts';
import { maxCounted } from '../../metrics/segments/subscriptions.ts';
import { countOfSegment } from '../segments/picker.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import { showPeriod } from '../view/picker.ts';

/** Whether a text can be a customer's number. */
export const isNumber = (text: string) => /^\d*[1-9]\d*$/.test(text);

const subscriptionFilters = {
  customer: z
    .string()
    .refine(isNumber, {
      error: ({ input }) => `“${input}” is not the number of a customer. Write one such as 501.`,
    })
    // No customer has a greater number, and the database could not even store some; none has 0.
    .transform((text) => (Number.isSafeInteger(Number(text)) ? Number(text) : 0))
    .optional(),
  status: choice('a status', subscriptionStatuses),
  figure: choice('a figure', countedFigures),
  ...dayFilters,
};

type SubscriptionsVisit = ListVisit<typeof subscriptionFilters, SubscriptionOrder>;

/** The figure that the list is of, if it is of one: the subscriptions of a customer are not. */
function figureIn({ filters }: SubscriptionsVisit): CountedFigure | undefined {
  return filters.customer === undefined ? filters.figure : undefined;
}

/** As the overview calls them. */
const figureLabels: Readonly<Record<CountedFigure, readonly [label: string]>> = {
  new: ['New subscribers'],
  active: ['Active subscribers'],
  mrr: ['MRR'],
  paused: ['Paused subscribers'],
  cancelled: ['Cancellations'],
  kept: ['Kept by the cancel flow'],
};

/** What happened on the day that is shown instead of the next billing date. */
const happenings: Readonly<Partial<Record<CountedFigure, string>>> = {
  cancelled: 'Cancelled',
  kept: 'Saved',
};

/** What a list is of: the status at the end of the period; of what was kept, now. */
function countedIn(visit: SubscriptionsVisit, figure: CountedFigure): Counted {
  const { view, filters } = visit;
  const at = figure === 'kept' ? view.now : seenFrom(view.period, view.now);
  return { figure, ...partOf(view.period, filters), at, isPast: at !== view.now };
}

/** How many a list has: of a figure, subscriptions and customers as it counts them; otherwise its rows. */
interface ListCount {
  readonly customers?: number;
  readonly subscriptions?: number;
  /** How many of them are in their trial, and what the others are worth a month. */
  readonly trials?: number;
  readonly mrr?: number;
  readonly rows?: RowCount | undefined;
}

/** The same as the figure, or as its bar. */
function countFigure(visit: SubscriptionsVisit, figure: CountedFigure): Promise<ListCount> {
  const { period, now } = visit.view;
  const { first, last } = visit.filters;
  return figuresOf(visit, async (figures) => {
    if (figure === 'paused')
      return { customers: (await figures.summary(period, now)).pausedSubscribers };
    if (figure === 'active' || figure === 'mrr') {
      const { trials, ...row } = await figures.summary(period, now);
      const mrr = rounded(monthlyValue(row.activeValue), visit.shop);
      return figure === 'mrr'
        ? { subscriptions: row.activeSubscriptions - trials, mrr }
        : { customers: row.activeSubscribers, subscriptions: row.activeSubscriptions, trials, mrr };
    }
    if (figure === 'kept') {
      const { subscriptions } = await figures.kept({ ...partOf(period, visit.filters), now });
      return { subscriptions };
    }
    const history = await figures.history(period);
    const field = figure === 'new' ? 'newSubscribers' : 'cancelled';
    const subscriptions = history
      .filter(({ day }) => day >= (first ?? day) && day <= (last ?? day))
      .reduce((sum, each) => sum + each[field], 0);
    return { subscriptions };
  });
}

/** The same of a list that is of no figure; undefined if that would take too long. */
async function countListed(visit: SubscriptionsVisit): Promise<RowCount | undefined> {
  const { parts, shop, view, filters } = visit;
  if (filters.customer === undefined && isOfSegment(view)) {
    return countOfSegment(parts, visit, view);
  }
  const found = await parts.store.readRecent(shop.id, ({ subscriptions }) =>
    countSubscriptions(subscriptions, shop.id, filters, maxCounted + 1),
  );
  return upTo(maxCounted, found);
}

/** Whether a segment has conditions beside the status, which is a filter of the list. */
function isOfSegment({ segment }: Pick<View, 'segment'>): boolean {
  const { status: _, ...conditions } = segment ?? {};
  return Object.keys(conditions).length > 0;
}

const eachRounded =
  'Each amount is rounded once, so they may differ from their sum by minor units. ';

/** What a list of a figure has. */
function figureHead(visit: SubscriptionsVisit, figure: CountedFigure, counted: ListCount): Html {
  const { view, filters } = visit;
  const { customers = 0, subscriptions = 0, trials = 0, mrr = 0 } = counted;
  const many = (count: number, noun: string, more?: string) => countOf(visit, count, noun, more);
  const path = shopPath(visit.shop, '/subscriptions');
  const money = html`<bdi>${formatMoney(visit, mrr)}</bdi>`;
  const during = showPeriod(visit, partOf(view.period, filters));
  const isNow = view.period.until === view.now;
  const then = isNow ? 'now' : html`just before ${showTime(visit, new Date(view.period.until))}`;
  const words: Readonly<Record<CountedFigure, () => Html>> = {
    new: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong> that began ${during}, each the
        first of its customer.`,
    active: () =>
      html`<strong>${many(subscriptions, 'subscription')} of ${many(customers, 'customer')}</strong
        >, active
        ${then}.${
          trials > 0 &&
          html` ${many(trials, 'of them is in its trial and brings', 'of them are in their trial and bring')}
            no MRR yet;
            <a href="${viewPath(path, view, { figure: 'mrr' })}">the others bring ${money}</a>.`
        }`,
    mrr: () =>
      html`<strong>${money} of MRR</strong> from ${many(subscriptions, 'subscription')}, active and
        out of trial ${then}.`,
    paused: () =>
      html`Paused subscriptions of <strong>${many(customers, 'customer')}</strong> without an active
        one ${then}.`,
    cancelled: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong> cancelled ${during} and still
        cancelled ${then}.`,
    kept: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong>, active now, whose last saved
        session began ${during}.`,
  };
  const ofThen =
    figure === 'mrr'
      ? 'The status and the worth are those of that time; prices and dates are those of today. '
      : 'The status is the one of that time; prices and dates are those of today. ';
  return html`<p>${words[figure]()}</p>
    <p class="quiet">
      ${!isNow && figure !== 'kept' && ofThen}${figure === 'mrr' && eachRounded}Times are in UTC.
    </p>`;
}

export interface SubscriptionRow extends z.infer<typeof subscription> {
  /** When what the list is of happened, epoch milliseconds, if it is of a figure. */
  readonly happenedAt?: number;
  readonly interval: Interval;
  /** What it is worth a month, to 12 decimals; after its trial, if it has one. */
  readonly value: string;
  readonly trialEndsAt: string | null;
}

/** Whether it is active, but brings no MRR yet, at the time that the list is of. */
function isInTrial({ status, trialEndsAt }: SubscriptionRow, visit: SubscriptionsVisit): boolean {
  const figure = figureIn(visit);
  const at = figure ? countedIn(visit, figure).at : visit.view.now;
  return status === 'active' && trialEndsAt !== null && Date.parse(trialEndsAt) > at;
}

const orders: Readonly<Record<SubscriptionOrder, string>> = { ...timeOrders, ...valueOrders };

/** The subscriptions of a customer, or of the figure or segment in the address, or all of the shop's. */
export const list = defineList<SubscriptionRow, ListCount>()({
  path: '/subscriptions',
  title: 'Subscriptions',
  label: 'Subscriptions',
  navigation: { group: 'Data', icon: 'subscriptions', isInBar: true },
  noun: 'subscriptions',
  caption: (visit) => {
    const happening = happeningIn(visit)?.toLowerCase();
    const last = visit.order === 'newest' ? 'last' : 'first';
    return `Subscriptions, ${happening ? `the ${last} ${happening} first` : orders[visit.order].toLowerCase()}`;
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
  orders,
  place: positionSchema.extend({ value: valueSchema }),
  placeOf: ({ subscriptionId: id, createdAt, happenedAt = Date.parse(createdAt), value }) => ({
    createdAt: happenedAt,
    id,
    value,
  }),
  read: readSubscriptions,
  summarise: async (visit) => {
    const figure = figureIn(visit);
    return figure ? countFigure(visit, figure) : { rows: await countListed(visit) };
  },
  count: (_, { rows, subscriptions }) => rows ?? subscriptions,
  head(visit, count) {
    const figure = figureIn(visit);
    return figure && figureHead(visit, figure, count);
  },
  columns(visit) {
    const happening = happeningIn(visit);
    const nextBilling: column.Column<SubscriptionRow> = {
      label: 'Next billing',
      kind: 'date',
      cell: (row) => showNextBilling(visit, row, visit.view.now),
      file: { 'Next billing (UTC)': ({ nextBillingDate }) => nextBillingDate },
    };
    const byTime = ['oldest', 'newest'] as const;
    return [
      column.subscription,
      column.customer,
      column.numberedPlan,
      column.state('Status', ({ status }) => statusLabels[status]),
      {
        label: 'Price',
        kind: 'amount',
        cell: ({ currentPrice, interval }) => showPrice(visit, currentPrice, interval),
        file: {
          'Price per cycle': ({ currentPrice }) => currentPrice,
          Currency: (_, { shop }) => shop.currency,
          'Billed every (count)': ({ interval }) => interval.count,
          'Billed every (unit)': ({ interval }) => interval.unit,
        },
      },
      column.decimal('Worth', ({ value }) => value, {
        // On phones, only what shows the order.
        kind: isByValue(visit.order) ? 'number' : 'minor number',
        // Without the marks of direction, which the price does not need either: a row has few bytes.
        cell: (row) =>
          isInTrial(row, visit)
            ? html`<span class="quiet">${formatMoney(visit, worthOf(row, visit))} after trial</span>
                ${formatMoney(visit, 0)}`
            : formatMoney(visit, worthOf(row, visit)),
        // The first says how they are sorted.
        file: {
          'Worth a month after trial': worthOf,
          'Worth a month': (row) => (isInTrial(row, visit) ? 0 : worthOf(row, visit)),
        },
        sum: ({ mrr }) => (figureIn(visit) === 'mrr' ? mrr : undefined),
        sort: canSortByValue(visit) ? ['lowest', 'highest'] : undefined,
      }),
      ...(happening
        ? [
            { ...nextBilling, cell: undefined },
            column.time<SubscriptionRow, ListCount>(happening, ({ happenedAt = 0 }) => happenedAt, {
              sort: byTime,
            }),
          ]
        : [nextBilling]),
      column.time('Created', ({ createdAt }) => Date.parse(createdAt), {
        kind: 'minor',
        sort: happening ? undefined : byTime,
      }),
    ];
  },
  empty: {
    title: 'No subscriptions yet',
    text: 'Subscriptions appear here with their customer, plan, price and next billing date, once a source brings them.',
    isOfSource: true,
    sample: [
      ['Subscription', 'Status', 'Price'],
      ['2051', 'Active', '42.00'],
      ['2050', 'Active', '18.00'],
      ['2048', 'Paused', '21.00'],
      ['2047', 'Active', '36.00'],
      ['2046', 'Cancelled', '18.00'],
      ['2043', 'Active', '42.00'],
    ],
  },
});

const worthOf = ({ value }: SubscriptionRow, { shop }: Pick<ShopVisit, 'shop'>) =>
  rounded(parseDecimal(value), shop);

/** What happened in a period is found by when it did, and what was worth something then by when it began. */
function canSortByValue(visit: SubscriptionsVisit): boolean {
  const figure = figureIn(visit);
  if (figure === 'mrr') return visit.view.period.until === visit.view.now;
  return figure === undefined || figure === 'active' || figure === 'paused';
}

function happeningIn(visit: SubscriptionsVisit): string | undefined {
  const figure = figureIn(visit);
  return figure && happenings[figure];
}

export async function readSubscriptions(
  visit: SubscriptionsVisit,
  page: SubscriptionPaging,
): Promise<readonly SubscriptionRow[]> {
  const { parts, shop, view, filters } = visit;
  const { customer, status } = filters;
  const figure = figureIn(visit);
  const segment = segmentOf(view);
  const read = <Found>(part: (from: ReadConnections) => Promise<Found>) =>
    parts.store.readRecent(shop.id, part);
  if (figure) {
    const found = await read((from) =>
      listCounted(from, shop, countedIn(visit, figure), page, segment),
    );
    return found.map(({ json, happenedAt }) => ({ ...JSON.parse(json), happenedAt }));
  }
  const { rows } = await read((from) =>
    customer !== undefined
      ? listSubscriptionsOfCustomer(from.subscriptions, shop, customer, { ...page, status })
      : segment && isOfSegment(view)
        ? listSegmentSubscriptions(from, shop, segment, page)
        : listSubscriptionsShown(from.subscriptions, shop, { ...page, status }),
  );
  return JSON.parse(`[${rows}]`);
}

/** The price of a cycle and the billing interval. */
export function showPrice(visit: ShopVisit, price: number, interval?: Interval): Html {
  return html`${formatMoney(visit, price)}
  ${interval && html`<small>${everyInterval(visit, interval)}</small>`}`;
}

/** The last known billing date; in the past tense if it has passed, or the subscription has ended. */
export function showNextBilling(
  visit: ShopVisit,
  { status, nextBillingDate }: Pick<SubscriptionRow, 'status' | 'nextBillingDate'>,
  now: number,
): HtmlValue {
  if (nextBillingDate === null) return html`<span class="quiet">Unknown</span>`;
  const at = new Date(nextBillingDate);
  const isPast = at.getTime() <= now || endedStatuses.includes(status);
  return isPast ? html`<span class="quiet">was ${showDay(visit, at)}</span>` : showDay(visit, at);
}
