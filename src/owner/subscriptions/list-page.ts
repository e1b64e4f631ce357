import type { z } from 'zod';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { subscription } from '../../operations/shapes.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import type { ShopVisit } from '../pages.ts';
import { alert, shopPath } from '../ui/layout.ts';
import { type Column, importCommand, listing, parameter, rowLink } from '../ui/listing.ts';
import { formatMoney } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { everyInterval, state, statusWords } from '../ui/labels.ts';

type SubscriptionRow = z.infer<typeof subscription>;

export interface SubscriptionsPage {
  readonly subscriptions: readonly SubscriptionRow[];
  readonly nextCursor: string | null;
}

type Shown = SubscriptionsPage & {
  /** By subscription; none of one that was deleted meanwhile. */
  readonly intervals: ReadonlyMap<number, Interval>;
  /** The number that was looked for, and that no subscription has. */
  readonly missing: string | undefined;
};

export function subscriptionsContent(visit: ShopVisit, parts: Shown): Html {
  const { subscriptions, nextCursor, intervals, missing } = parts;
  const { shop } = visit;
  const path = shopPath(shop, '/subscriptions');
  const customer = parameter(visit, 'customer');
  return html`
    ${alert(
      missing === undefined
        ? undefined
        : `No subscription of this shop has the number ${missing}. Check it, or find the subscription in the list.`,
    )}
    ${listing({
      openers: html`<div class="openers">
          ${opener(path, 'subscription', 'Subscription number', 'Open', missing)}
          ${opener(path, 'customer', 'Customer number', 'Show', customer)}
        </div>
        ${
          customer &&
          html`<p>
            Subscriptions of customer <strong>${customer}</strong>.
            <a href="${path}">Those of all customers</a>
          </p>`
        }`,
      caption: 'Subscriptions, newest first',
      path,
      narrowed: { customer, status: parameter(visit, 'status') },
      filter: { name: 'status', label: 'Status', words: statusWords },
      columns: columnsFor(visit, intervals),
      rows: subscriptions,
      cursor: parameter(visit, 'cursor'),
      nextCursor,
      whereNone: html`<h2>No subscriptions yet</h2>
        <p>
          Here will be every subscription of the shop: who has it, on which plan, what it brings
          each cycle and when it is billed next. They come with the first import:
        </p>
        ${importCommand(visit)}`,
    })}
  `;
}

/** A form that opens something by its number. */
function opener(
  path: string,
  name: string,
  label: string,
  action: string,
  value: string | undefined,
): Html {
  return html`<form class="opener" method="get" action="${path}">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      inputmode="numeric"
      autocomplete="off"
      required
      value="${value}"
    />
    <button class="plain">${action}</button>
  </form>`;
}

function columnsFor(
  visit: ShopVisit,
  intervals: ReadonlyMap<number, Interval>,
): readonly Column<SubscriptionRow>[] {
  const { shop } = visit;
  return [
    {
      label: 'Subscription',
      kind: 'head',
      cell: ({ subscriptionId: id }) => rowLink(shopPath(shop, `/subscriptions/${id}`), id),
    },
    { label: 'Customer', kind: 'number', cell: ({ customerId }) => customerId },
    { label: 'Plan', cell: ({ planName }) => planName },
    { label: 'Status', kind: 'state', cell: ({ status }) => state(statusWords[status]) },
    {
      label: 'Value',
      kind: 'amount',
      cell: ({ currentPrice, subscriptionId }) =>
        showValue(visit, currentPrice, intervals.get(subscriptionId)),
    },
    { label: 'Next billing', cell: (row) => showNextBilling(visit, row) },
    { label: 'Created', cell: ({ createdAt }) => showDay(visit, new Date(createdAt)) },
  ];
}

/** What a cycle brings, and how often there is one. */
export function showValue(visit: ShopVisit, price: number, interval: Interval | undefined): Html {
  return html`${formatMoney(visit, visit.shop, price)}
  ${interval && html`<span class="quiet every">${everyInterval(visit, interval)}</span>`}`;
}

/** The last that is known, which of one that is not billed any more is none to wait for. */
export function showNextBilling(
  visit: ShopVisit,
  { status, nextBillingDate: at }: Pick<SubscriptionRow, 'status' | 'nextBillingDate'>,
): HtmlValue {
  if (at === null) return html`<span class="quiet">None known</span>`;
  const day = showDay(visit, new Date(at));
  return status === 'active' || status === 'paused'
    ? day
    : html`<span class="quiet">was ${day}</span>`;
}
