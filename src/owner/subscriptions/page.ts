import type { z } from 'zod';
import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { isEntitled } from '../../operations/get-entitlements.ts';
import type { subscriptionDetail } from '../../operations/answer-schemas.ts';
import {
  type Timeline,
  type PaymentRow,
  type SessionRow,
  type Standing,
  timelineLimit,
  findTimeline,
} from '../../store/records/subscription-timeline.ts';
import { type Interval, listIntervals } from '../../store/records/subscriptions.ts';
import { readId } from '../../metrics/segments/segment.ts';
import { page } from '../ui/page.ts';
import { type ShopVisit, type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import {
  showFailureCode,
  failureLabels,
  offerLabel,
  outcomeState,
  paymentLabels,
  planTypeLabels,
  reasonLabels,
  state,
  statusLabels,
} from '../ui/labels.ts';
import { formatCount, formatMoney, showDay, showTime } from '../ui/formats.ts';
import { showNextBilling, showPrice } from './list.ts';
import { ServiceError } from '../../errors.ts';
import { getSubscription } from '../../operations/get-subscription.ts';
import { type HomesVisit, homeLink, showId, sourceIdEntry, withHomes } from '../framework/homes.ts';
import { ask } from '../ask.ts';
import { notFoundPage } from '../message-pages.ts';
import { shopPath } from '../site.ts';
import { type TableColumn, plainTable } from '../ui/table.ts';

type SubscriptionDetail = z.infer<typeof subscriptionDetail>;

/** Whether a subscription entitles its customer, its details, and everything that happened to it. */
async function subscriptionPage(parts: OwnerParts, shopVisit: ShopVisit): Promise<Answer> {
  const { shop, params } = shopVisit;
  const subscription = await find(parts, shopVisit, readId(params['subscriptionId'] ?? ''));
  if (!subscription) return notFoundPage(shopVisit);
  const { subscriptionId: id, customerId } = subscription;
  const now = parts.clock.now();
  const [[timeline, intervals], visit] = await Promise.all([
    parts.store.readRecent(shop.id, ({ subscriptions }) =>
      Promise.all([
        findTimeline(subscriptions, shop.id, id, now),
        listIntervals(subscriptions, shop.id, [id]),
      ]),
    ),
    withHomes(parts, shopVisit, [
      ['subscription', id],
      ['customer', customerId],
    ]),
  ]);
  const { standing } = timeline;
  // It may have been deleted in the meantime.
  if (!standing) return notFoundPage(shopVisit);
  const content = html`
    <p class="standing">
      ${state(statusLabels[standing.status])}
      <span class="quiet">
        ${standing.statusSince ? html`since ${showDay(visit, standing.statusSince)}` : 'since an unknown day'}
      </span>
    </p>
    <p class="${isEntitledNow(standing, now) ? 'verdict kept' : 'verdict neutral'}">
      ${entitlementOf(visit, standing, now)}
    </p>
    ${
      timeline.dunningSince &&
      html`<p class="verdict risk">
        <strong>In dunning</strong> since ${showDay(visit, timeline.dunningSince)}: a payment
        failed, and none has succeeded since.
      </p>`
    }
    <div class="columns">
      <div>
        ${details(visit, subscription, standing, intervals.get(id), now)}
        ${statusHistory(visit, subscription, standing, timeline)}
      </div>
      <div>
        ${items(visit, subscription, timeline)} ${payments(visit, timeline.payments)}
        ${sessions(visit, timeline.sessions)}
      </div>
    </div>
  `;
  return page(visit, {
    title: `Subscription ${showId(visit, 'subscription', id)}`,
    content,
    action: homeLink(visit, 'subscription', id, 'button'),
  });
}

function isEntitledNow({ status, paidThroughAt }: Standing, now: number): boolean {
  return isEntitled(status, paidThroughAt?.getTime() ?? null, now);
}

/** For sentences that start with "the subscription". */
const predicates = {
  paused: 'is paused',
  cancelled: 'is cancelled',
  expired: 'has expired',
  failed: 'has failed',
} as const;

/** Whether the subscription entitles the customer right now, and why. */
function entitlementOf(visit: ShopVisit, standing: Standing, now: number): Html {
  const { status, paidThroughAt } = standing;
  if (status === 'active') return html`<strong>Entitled:</strong> the subscription is active.`;
  const predicate = predicates[status];
  if (isEntitledNow(standing, now) && paidThroughAt) {
    return html`<strong>Entitled until ${showTime(visit, paidThroughAt)}:</strong> the subscription
      ${predicate} but is paid until then.`;
  }
  return paidThroughAt
    ? html`<strong>Not entitled:</strong> the subscription ${predicate} and was paid only until
        ${showTime(visit, paidThroughAt)}.`
    : html`<strong>Not entitled:</strong> the subscription ${predicate} and no paid period is known.`;
}

function items(
  visit: ShopVisit,
  { lineItems, currentPrice }: SubscriptionDetail,
  { lineIntervals }: Timeline,
): Html {
  const every = new Map(lineIntervals.map((each) => [each.lineId, each]));
  const money = (amount: number) => formatMoney(visit, amount);
  return html`<section class="card">
    <h2>Items per cycle</h2>
    ${plainTable(
      lineItems,
      [
        [
          'Product',
          ({ productTitle, variantTitle }) =>
            html`${productTitle} ${variantTitle && html`<span class="quiet">${variantTitle}</span>`}`,
          'head',
          'Total',
        ],
        ['Price', (item) => showPrice(visit, item.currentPrice, every.get(item.lineId)), 'amount'],
        [
          'Quantity',
          ({ quantity }) => `× ${formatCount(visit, quantity)}`,
          'amount',
          html`<strong>${money(currentPrice)}</strong>`,
        ],
      ],
      { look: 'plain' },
    )}
  </section>`;
}

/** A note that only the newest rows are shown, if there may be more. */
const truncationNote = (rows: readonly unknown[]) =>
  rows.length === timelineLimit
    ? html`<p class="quiet">Only the latest ${timelineLimit} are shown.</p>`
    : undefined;

function payments(visit: ShopVisit, rows: readonly PaymentRow[]): Html {
  const money = (amount: string) => formatMoney(visit, Number(amount));
  return recentCard('Payments', rows, 'Billing attempts appear here, with failures and refunds.', [
    [
      'Date',
      ({ processedAt, cycle }) =>
        html`${showDay(visit, processedAt)} <span class="quiet">Cycle ${cycle}</span>`,
      'head',
    ],
    ['Status', (row) => html`${state(paymentLabels[row.status])} ${aboutPayment(visit, row)}`],
    ['Amount', ({ amount }) => money(amount), 'amount'],
  ]);
}

const note = (text: HtmlValue) => html`<span class="quiet">${text}</span>`;

/** Why a payment failed, and what of it was refunded. */
function aboutPayment(visit: ShopVisit, payment: PaymentRow): Html {
  const { status, failureKind, failureCode, refunded, refundedAt } = payment;
  const hasFailed = status === 'failed' && failureKind !== null;
  return html`${hasFailed && note(failureLabels[failureKind])}
  ${hasFailed && failureCode !== null && note(showFailureCode(failureCode))}
  ${
    refunded !== null &&
    refundedAt !== null &&
    note(html`${formatMoney(visit, Number(refunded))} refunded ${showDay(visit, refundedAt)}`)
  }`;
}

function sessions(visit: ShopVisit, rows: readonly SessionRow[]): Html {
  const empty = 'Cancel-flow sessions appear here, with reason, offer and outcome.';
  return recentCard('Cancel flow', rows, empty, [
    ['Started', ({ createdAt }) => showDay(visit, createdAt), 'head'],
    [
      'Reason and offer',
      ({ detectedReason: reason, offerType: offer }) =>
        html`${reasonLabels[reason]} <span class="quiet">Offer: ${offerLabel(offer)}</span>`,
    ],
    ['Outcome', ({ outcome }) => state(outcomeState(outcome))],
  ]);
}

/** A card with the newest rows, or with a text that says what will appear. */
function recentCard<Row>(
  title: string,
  rows: readonly Row[],
  empty: string,
  columns: readonly TableColumn<Row>[],
): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${
      rows.length === 0
        ? html`<p class="quiet">${empty}</p>`
        : plainTable(rows, columns, { look: 'plain' })
    }
    ${truncationNote(rows)}
  </section>`;
}

function details(
  visit: HomesVisit,
  subscription: SubscriptionDetail,
  standing: Standing,
  interval: Interval | undefined,
  now: number,
): Html {
  const { subscriptionId, customerId, planName, planType, currentPrice, createdAt } = subscription;
  const { paidThroughAt, trialEndsAt } = standing;
  const customerPath = shopPath(visit.shop, `/customers/${customerId}`);
  return html`<section class="card">
    <h2>Details</h2>
    <dl class="details">
      <dt>Customer</dt>
      <dd>
        <a href="${customerPath}">${showId(visit, 'customer', customerId)}</a>
        ${homeLink(visit, 'customer', customerId)}
      </dd>
      ${sourceIdEntry(visit, 'subscription', subscriptionId)}
      <dt>Plan</dt>
      <dd>${planName} <span class="quiet">${planTypeLabels[planType]}</span></dd>
      <dt>Price</dt>
      <dd>${showPrice(visit, currentPrice, interval)}</dd>
      <dt>Next billing</dt>
      <dd>${showNextBilling(visit, subscription, now)}</dd>
      <dt>Paid through</dt>
      <dd>
        ${paidThroughAt ? showDay(visit, paidThroughAt) : html`<span class="quiet">Unknown</span>`}
      </dd>
      ${
        trialEndsAt
          ? html`<dt>${trialEndsAt.getTime() > now ? 'Trial until' : 'Trial ended'}</dt>
              <dd>${showDay(visit, trialEndsAt)}</dd>`
          : undefined
      }
      <dt>Created</dt>
      <dd>${showDay(visit, new Date(createdAt))}</dd>
    </dl>
  </section>`;
}

function statusHistory(
  visit: ShopVisit,
  subscription: SubscriptionDetail,
  standing: Standing,
  { changes }: Timeline,
): Html {
  const created = { at: new Date(subscription.createdAt), to: 'active' } as const;
  const undated = standing.statusSince ? [] : [{ at: null, to: standing.status }];
  const all = [...undated, ...changes, ...(changes.length === timelineLimit ? [] : [created])];
  const rows = all.map(
    ({ at, to }) =>
      html`<li>
        ${state(statusLabels[to])}
        ${at ? showDay(visit, at) : html`<span class="quiet">On an unknown day</span>`}
      </li>`,
  );
  return html`<section class="card">
    <h2>Status history</h2>
    <ol class="timeline">
      ${rows}
    </ol>
    ${truncationNote(changes)}
  </section>`;
}

export function subscriptionPages(parts: OwnerParts): OwnerPage[] {
  return [
    shopPage('/subscriptions/:subscriptionId', {
      right: 'figures',
      parent: '/subscriptions',
      show: (visit) => subscriptionPage(parts, visit),
    }),
  ];
}

/** @returns undefined if there is none with this number */
export async function find(parts: OwnerParts, { shop }: ShopVisit, subscriptionId?: number) {
  if (subscriptionId === undefined) return undefined;
  try {
    return (await ask(parts, shop, getSubscription, { subscriptionId })).subscription;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'notFound') return undefined;
    throw error;
  }
}
