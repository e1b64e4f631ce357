import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import type { CountedFigure } from '../../metrics/segments/counted.ts';
import { parseSegment, segmentQuery } from '../../metrics/segments/segment.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { alert, describedBy, shopPath } from '../ui/layout.ts';
import { rowLink } from '../framework/columns.ts';
import { type Column, listing, parameter, sourcesLink } from '../ui/listing.ts';
import { formatMoney } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { everyInterval, state, statusLabels } from '../ui/labels.ts';
import { periodPicker } from '../view/picker.ts';
import { figureHead, figureLabels } from './figure-words.ts';
import type { SubscriptionRow, SubscriptionsPage } from './list.ts';
import { type FigureCount, type OfFigure, figureQuery } from './of-figure.ts';

/** What the list was searched for; at most one of `missing` and `customer`. */
export interface Search {
  /** What was not found; then the list has all subscriptions. */
  readonly missing?: { readonly noun: 'subscription' | 'customer'; readonly text: string };
  /** The customer whose subscriptions are listed, by number. */
  readonly customer?: string;
  /** The customer's id at the source, if it is known. */
  readonly sourceId?: string | undefined;
}

type Shown = SubscriptionsPage &
  Search & {
    /** By subscription id; without those that were deleted in the meantime. */
    readonly intervals: ReadonlyMap<number, Interval>;
    /** Of its segments; undefined for the subscriptions of one customer. */
    readonly choices: SegmentChoices | undefined;
    /** The figure that counts them, if the list is of one, and how many. */
    readonly counted: (OfFigure & { readonly count: FigureCount }) | undefined;
  };

export function subscriptionsContent(visit: ShopVisit, parts: Shown): Html {
  const { subscriptions, nextCursor, intervals, missing, customer, sourceId, choices, counted } =
    parts;
  const { shop } = visit;
  const path = shopPath(shop, '/subscriptions');
  const { segment } = parseSegment(visit.query);
  const status = parameter(visit, 'status');
  const happening = counted && happenings[counted.figure];
  const isMissing = (noun: string) => missing?.noun === noun;
  const sought = (noun: string) => (isMissing(noun) ? missing?.text : undefined);
  return html`
    ${alert(missing && explainMissing(missing))}
    ${listing({
      lookups: html`<div class="lookups">
          ${lookup(path, 'subscription', 'Subscription id', 'Open', sought('subscription'), isMissing('subscription'))}
          ${lookup(path, 'customer', 'Customer id', 'Show', sought('customer') ?? customer, isMissing('customer'))}
        </div>
        ${
          customer &&
          html`<p>
            Subscriptions of customer <strong>${customer}</strong>${sourceId && ` (${sourceId})`}.
            <a href="${path}">Show all customers</a>
          </p>`
        }
        ${counted && periodPicker(visit, counted.view, path)}
        ${choices && segmentPicker(visit, segment, choices, path)}
        ${counted && figureHead(visit, counted, counted.count)}`,
      caption: `Subscriptions, ${happening ? `the last ${happening.toLowerCase()}` : 'newest'} first`,
      noun: 'subscriptions',
      path,
      csv: shopPath(shop, '/subscriptions.csv'),
      ...(counted
        ? {
            query: figureQuery(counted),
            filter: { name: 'figure', label: 'Figure', options: figureLabels },
          }
        : {
            query: choices ? Object.fromEntries(segmentQuery(segment)) : { customer, status },
            filter: { name: 'status', label: 'Status', options: statusLabels },
          }),
      columns: columnsFor(visit, intervals, happening),
      rows: subscriptions,
      cursor: parameter(visit, 'cursor'),
      nextCursor,
      emptyState: html`<h2>No subscriptions yet</h2>
        <p>
          Subscriptions appear here with their customer, plan, value per cycle and next billing
          date, once a source brings them.
        </p>
        <p>${sourcesLink(visit)}</p>`,
    })}
  `;
}

/** Ids have digits, and no spaces or @. */
const idLike = /^(?=.*\d)(?!0*$)[\w:/.-]+$/;

function explainMissing({ noun, text }: NonNullable<Search['missing']>): string {
  return idLike.test(text)
    ? `This shop has no ${noun} ${text}. Check the id, or find the ${noun} in the list.`
    : `“${text}” is not a ${noun} number. Search by number or by the id at the source; names and email addresses are not stored here.`;
}

/** A form that finds records by their id here or at the source. */
function lookup(
  path: string,
  name: string,
  label: string,
  action: string,
  value: string | undefined,
  isMissing: boolean,
): Html {
  return html`<form class="lookup" method="get" action="${path}">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      spellcheck="false"
      maxlength="200"
      autocomplete="off"
      required
      value="${value}"
      ${describedBy(undefined, isMissing)}
    />
    <button class="plain">${action}</button>
  </form>`;
}

/** What happened on the day that is shown instead of the next billing date. */
export const happenings: Readonly<Partial<Record<CountedFigure, string>>> = {
  cancelled: 'Cancelled',
  kept: 'Saved',
};

function columnsFor(
  visit: ShopVisit,
  intervals: ReadonlyMap<number, Interval>,
  happening: string | undefined,
): readonly Column<SubscriptionRow>[] {
  const { shop } = visit;
  return [
    {
      label: 'Subscription',
      kind: 'head',
      cell: ({ subscriptionId: id }) => rowLink(shopPath(shop, `/subscriptions/${id}`), id),
    },
    { label: 'Customer', kind: 'minor', cell: ({ customerId }) => customerId },
    { label: 'Plan', kind: 'name', cell: ({ planName }) => planName },
    { label: 'Status', kind: 'state', cell: ({ status }) => state(statusLabels[status]) },
    {
      label: 'Value',
      kind: 'amount',
      cell: ({ currentPrice, subscriptionId }) =>
        showValue(visit, currentPrice, intervals.get(subscriptionId)),
    },
    happening
      ? {
          label: happening,
          kind: 'date',
          cell: ({ happenedAt = 0 }) => showDay(visit, new Date(happenedAt)),
        }
      : { label: 'Next billing', kind: 'date', cell: (row) => showNextBilling(visit, row) },
    {
      label: 'Created',
      kind: 'minor',
      cell: ({ createdAt }) => showDay(visit, new Date(createdAt)),
    },
  ];
}

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
