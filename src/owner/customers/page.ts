import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { type Html, html } from '../../http/html.ts';
import {
  type CustomerEvent,
  type EventKind,
  eventKinds,
  listCustomerEvents,
  maxHeld,
  rankOf,
} from '../../store/records/customer-events.ts';
import { type CustomerRow, findCustomer } from '../../metrics/customers.ts';
import { readId } from '../../metrics/segments/segment.ts';
import { parseDecimal } from '../../money.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import type {
  DetectedReason,
  OfferType,
  PaymentStatus,
  SessionOutcome,
  SubscriptionStatus,
} from '../../vocabulary.ts';
import { choice } from '../framework/address.ts';
import * as column from '../framework/columns.ts';
import { positionSchema } from '../framework/cursor.ts';
import { defineList } from '../framework/define-list.ts';
import { type HomesVisit, homeLink, homeOf, showId, sourceIdEntry } from '../framework/homes.ts';
import { type ListVisit, timeOrders } from '../framework/list.ts';
import type { ShopVisit } from '../pages.ts';
import { opens, shopPath } from '../site.ts';
import { customerLinkPath } from '../sources/customer-link.ts';
import {
  type SubscriptionRow,
  readSubscriptions,
  showNextBilling,
  showPrice,
} from '../subscriptions/list.ts';
import { formatCount, rounded, showDay } from '../ui/formats.ts';
import {
  type Tone,
  failureLabels,
  offerLabel,
  reasonLabels,
  showFailureCode,
  state,
  statusLabels,
} from '../ui/labels.ts';
import { page } from '../ui/page.ts';
import { plainTable } from '../ui/table.ts';
import { risksOf } from './list.ts';

const kindLabels: Readonly<Record<EventKind, readonly [label: string]>> = {
  began: ['Subscribed'],
  status: ['Status'],
  payment: ['Payments'],
  refund: ['Refunds'],
  session: ['Cancel flow'],
  value: ['Worth'],
};

const customerFilters = { kind: choice('a kind of event', kindLabels) };
type Visit = ListVisit<typeof customerFilters, TimeOrder>;

interface Summary {
  readonly customer: CustomerRow;
  readonly subscriptions: readonly SubscriptionRow[];
}

/** Subscriptions that the page itself shows. */
const firstRows = 10;

const { createdAt: at, id: recordId } = positionSchema.shape;
const notNegative = z.int().min(0);

/** @throws ServiceError notFound, if it is no customer's number */
function idIn({ params }: ShopVisit): number {
  const id = readId(params['customerId'] ?? '');
  if (id !== undefined) return id;
  throw new ServiceError('notFound', 'Customer not found.');
}

/** A customer: who they are at the source, what they are worth, and everything that happened. */
export const customer = defineList<CustomerEvent, Summary>()({
  path: '/customers/:customerId',
  title: (visit) => `Customer ${showId(visit, 'customer', idIn(visit))}`,
  about: (visit, { subscriptions }) => [
    ['customer', idIn(visit)],
    ...subscriptions.map(({ subscriptionId }) => ['subscription', subscriptionId] as const),
  ],
  parent: '/customers',
  noun: 'events',
  fileNoun: (visit) => `customer-${idIn(visit)}`,
  caption: ({ order }) => `What happened, ${order} first`,
  pickers: [],
  filters: customerFilters,
  links: { name: 'kind', label: 'Kind', none: 'Everything', options: kindLabels },
  orders: timeOrders,
  place: z.object({
    at,
    rank: notNegative.max(eventKinds.length),
    subscriptionId: recordId,
    id: notNegative,
  }),
  placeOf: (event) => ({ ...event, rank: rankOf(event.kind) }),
  read: (visit, { order, after, limit }) =>
    visit.parts.store.readRecent(visit.shop.id, ({ analyse }) =>
      listCustomerEvents(analyse, visit.shop.id, idIn(visit), visit.view.now, {
        kinds: visit.filters.kind && [visit.filters.kind],
        order,
        after,
        limit,
      }),
    ),
  async summarise(visit) {
    const { parts, shop, view } = visit;
    const [found, subscriptions] = await Promise.all([
      parts.store.readRecent(shop.id, ({ analyse }) =>
        findCustomer(analyse, shop.id, idIn(visit), view.now),
      ),
      readSubscriptions(
        { ...visit, filters: { customer: idIn(visit) } },
        { after: undefined, limit: firstRows },
      ),
    ]);
    if (!found) throw new ServiceError('notFound', 'Customer not found.');
    return { customer: found, subscriptions };
  },
  head: showCustomer,
  columns: [
    column.subscription,
    {
      label: 'What',
      kind: 'name',
      cell: (event) => state(whatOf(event)),
      file: { What: (event) => whatOf(event)[0] },
    },
    {
      label: 'Details',
      cell: detailsOf,
      file: { Plan: ({ planName }) => planName, Reason: ({ reason }) => reason },
    },
    {
      label: 'Amount',
      kind: 'amount',
      cell: ({ amount }, visit) => amount !== null && showAmount(visit, amount),
      file: {
        Amount: ({ amount }, { shop }) => amount && rounded(parseDecimal(amount), shop),
        Currency: ({ amount }, { shop }) => amount && shop.currency,
      },
    },
    column.time('When', ({ at: when }) => when, { sort: ['oldest', 'newest'] }),
  ],
  empty: { title: 'Nothing has happened yet', text: undefined },
  frame: (visit, parts) => page(visit, { ...parts, action: wayHome(visit, idIn(visit)) }),
});

/** To the customer's home, or to where those who may say where that is. */
function wayHome(visit: HomesVisit, id: number): Html | undefined {
  const home = homeOf(visit, 'customer', id);
  if (!home || home.page || !opens(visit, customerLinkPath)) {
    return homeLink(visit, 'customer', id, 'button');
  }
  const path = shopPath(visit.shop, customerLinkPath);
  return html`<a class="button plain" href="${path}">Set where this opens</a>`;
}

const showAmount = (visit: ShopVisit, amount: string) =>
  column.showMoney(visit, rounded(parseDecimal(amount), visit.shop));

function showCustomer(visit: Visit, { customer: row, subscriptions }: Summary): Html {
  const { shop } = visit;
  const all = shopPath(shop, `/subscriptions?customer=${row.customerId}`);
  const risks = risksOf(row);
  return html`<p class="answer">
      ${column.showMoney(visit, rounded(row.mrr, shop))} a month now, ${showAmount(visit, row.paid)}
      paid since ${showDay(visit, new Date(row.since))}.
    </p>
    ${risks.length > 0 && html`<p>${risks.map(([label, tone]) => html`${state([label, tone])} `)}</p>`}
    <dl class="details">${sourceIdEntry(visit, 'customer', row.customerId)}</dl>
    <section>
      <h2>Subscriptions</h2>
      ${plainTable(
        subscriptions,
        [
          [
            'Subscription',
            ({ subscriptionId: id }) =>
              html`<a href="${shopPath(shop, `/subscriptions/${id}`)}"
                  >${showId(visit, 'subscription', id)}</a
                >
                ${homeLink(visit, 'subscription', id)}`,
            'head',
          ],
          ['Plan', ({ planName }) => planName],
          ['Status', ({ status }) => state(statusLabels[status]), 'state'],
          [
            'Price',
            ({ currentPrice, interval }) => showPrice(visit, currentPrice, interval),
            'amount',
          ],
          ['Next billing', (each) => showNextBilling(visit, each, visit.view.now)],
        ],
        { look: 'brief' },
      )}
      ${row.subscriptions > firstRows && html`<p><a href="${all}">See all ${formatCount(visit, row.subscriptions)}</a></p>`}
    </section>
    <h2>What happened</h2>
    <p class="quiet">
      ${row.subscriptions > maxHeld && `With the newest ${maxHeld} subscriptions. `}Paid is all
      payments less refunds. Times are in UTC.
    </p>`;
}

const payments: Readonly<Record<PaymentStatus, readonly [string, Tone]>> = {
  succeeded: ['Paid', 'kept'],
  failed: ['Payment failed', 'risk'],
  pending: ['Payment pending', 'neutral'],
};

const outcomes: Readonly<Record<SessionOutcome | 'open', readonly [string, Tone]>> = {
  saved: ['Saved by the cancel flow', 'kept'],
  cancelled: ['Cancelled in the cancel flow', 'lost'],
  abandoned: ['Left the cancel flow', 'neutral'],
  open: ['In the cancel flow', 'risk'],
};

function whatOf({ kind, word, amount, before }: CustomerEvent): readonly [string, Tone] {
  switch (kind) {
    case 'began':
      return ['Subscribed', 'new'];
    case 'status':
      return statusLabels[word as SubscriptionStatus];
    case 'payment':
      return payments[word as PaymentStatus];
    case 'refund':
      return ['Refunded', 'neutral'];
    case 'session':
      return outcomes[(word ?? 'open') as SessionOutcome | 'open'];
    case 'value':
      return Number(amount) > Number(before)
        ? ['Worth more a month', 'kept']
        : ['Worth less a month', 'risk'];
  }
}

function detailsOf(
  { kind, planName, before, reason, offer }: CustomerEvent,
  visit: ShopVisit,
): Html | string | undefined {
  switch (kind) {
    case 'began':
      return planName;
    case 'payment':
      if (reason === null) return undefined;
      return reason === 'inventory' ? failureLabels.inventory : showFailureCode(reason);
    case 'session':
      return html`${reasonLabels[reason as DetectedReason]}
        <span class="quiet">Offer: ${offerLabel(offer as OfferType | null)}</span>`;
    case 'value':
      return html`before ${showAmount(visit, before ?? '0')}`;
    default:
      return undefined;
  }
}
