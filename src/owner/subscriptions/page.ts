import type { z } from 'zod';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { isEntitled } from '../../operations/get-entitlements.ts';
import type { subscriptionDetail } from '../../operations/shapes.ts';
import {
  type Timeline,
  type PaymentRow,
  type SessionRow,
  type Standing,
  timelineLimit,
} from '../../store/records/subscription-timeline.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import { page } from '../ui/answers.ts';
import type { ShopVisit } from '../pages.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { formatCount, formatMoney } from '../ui/locale.ts';
import { showNextBilling, showValue } from './list-page.ts';
import { showDay, showTime } from '../ui/times.ts';
import {
  failureWords,
  offerOf,
  outcomeOf,
  paymentWords,
  planTypeWords,
  reasonWords,
  state,
  statusWords,
} from '../ui/labels.ts';

type SubscriptionDetail = z.infer<typeof subscriptionDetail>;

interface SubscriptionPage {
  readonly subscription: SubscriptionDetail;
  readonly standing: Standing;
  readonly course: Timeline;
  /** Undefined where it was deleted meanwhile. */
  readonly interval: Interval | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export function subscriptionPage(visit: ShopVisit, parts: SubscriptionPage): Answer {
  const { shop } = visit;
  const { subscription, standing, course, now } = parts;
  const content = html`
    <p class="standing">
      ${state(statusWords[standing.status])}
      <span class="quiet">since ${showDay(visit, standing.statusSince)}</span>
    </p>
    <p class="${isEntitledNow(standing, now) ? 'verdict good' : 'verdict over'}">
      ${entitlementOf(visit, standing, now)}
    </p>
    ${
      course.dunningSince &&
      html`<p class="verdict attention">
        <strong>In dunning</strong> since ${showDay(visit, course.dunningSince)}: a payment failed,
        and none has succeeded since.
      </p>`
    }
    <div class="columns">
      <div>${facts(visit, parts)} ${history(visit, parts)}</div>
      <div>
        ${items(visit, subscription)} ${payments(visit, course.payments)}
        ${sessions(visit, course.sessions)}
      </div>
    </div>
  `;
  return page(
    layout(visit, {
      title: `Subscription ${subscription.subscriptionId}`,
      trail: { path: shopPath(shop, '/subscriptions'), label: 'Subscriptions' },
      content,
      shop,
      current: 'subscriptions',
    }),
  );
}

function isEntitledNow({ status, paidThroughAt }: Standing, now: number): boolean {
  return isEntitled(status, paidThroughAt?.getTime() ?? null, now);
}

/** How a sentence about the subscription goes on. */
const predicates = {
  paused: 'is paused',
  cancelled: 'is cancelled',
  expired: 'has expired',
  failed: 'has failed',
} as const;

/** Whether the customer is entitled by it right now, and why. */
function entitlementOf(visit: ShopVisit, standing: Standing, now: number): Html {
  const { status, paidThroughAt } = standing;
  if (status === 'active') return html`<strong>Entitled:</strong> the subscription is active.`;
  const predicate = predicates[status];
  if (isEntitledNow(standing, now) && paidThroughAt) {
    return html`<strong>Entitled until ${showTime(visit, paidThroughAt)}</strong>, because it is
      paid through then, although it ${predicate}.`;
  }
  return paidThroughAt
    ? html`<strong>Not entitled:</strong> the subscription ${predicate}, and was paid only through
        ${showTime(visit, paidThroughAt)}.`
    : html`<strong>Not entitled:</strong> the subscription ${predicate}, and no paid period is
        known.`;
}

function items(visit: ShopVisit, { lineItems, currentPrice }: SubscriptionDetail): Html {
  const money = (amount: number) => formatMoney(visit, visit.shop, amount);
  const rows = lineItems.map(
    ({ productTitle, variantTitle, quantity, currentPrice: price }) =>
      html`<tr>
        <th scope="row">
          ${productTitle} ${variantTitle && html`<span class="quiet">${variantTitle}</span>`}
        </th>
        <td class="amount">${money(price)}</td>
        <td class="amount">× ${formatCount(visit, quantity)}</td>
      </tr>`,
  );
  return html`<section class="card">
    <h2>Items of each cycle</h2>
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col" class="amount">Price</th>
          <th scope="col" class="amount">Quantity</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <td class="amount" colspan="2"><strong>${money(currentPrice)}</strong></td>
        </tr>
      </tfoot>
    </table>
  </section>`;
}

/** Of what is cut off after the newest, that it is. */
const newestOnly = (rows: readonly unknown[]) =>
  rows.length === timelineLimit
    ? html`<p class="quiet">The last ${timelineLimit} are shown.</p>`
    : undefined;

function payments(visit: ShopVisit, rows: readonly PaymentRow[]): Html {
  const money = (amount: string) => formatMoney(visit, visit.shop, Number(amount));
  const shown = rows.map(
    ({ processedAt, cycle, status, failureKind, amount, refunded, refundedAt }) =>
      html`<tr>
        <th scope="row">
          ${showDay(visit, processedAt)} <span class="quiet">Cycle ${cycle}</span>
        </th>
        <td>
          ${state(paymentWords[status])}
          ${
            status === 'failed' && failureKind !== null
              ? html`<span class="quiet">${failureWords[failureKind]}</span>`
              : undefined
          }
          ${
            refunded !== null && refundedAt !== null
              ? html`<span class="quiet"
                  >${money(refunded)} refunded ${showDay(visit, refundedAt)}</span
                >`
              : undefined
          }
        </td>
        <td class="amount">${money(amount)}</td>
      </tr>`,
  );
  const heads = html`<th scope="col">Date</th>
    <th scope="col">Status</th>
    <th scope="col" class="amount">Amount</th>`;
  const none =
    'None yet. Here will be each attempt to bill a cycle, with what failed and what was refunded.';
  return part('Payments', rows, none, heads, shown);
}

function sessions(visit: ShopVisit, rows: readonly SessionRow[]): Html {
  const shown = rows.map(
    ({ createdAt, reason, offer, outcome }) =>
      html`<tr>
        <th scope="row">${showDay(visit, createdAt)}</th>
        <td>${reasonWords[reason]} <span class="quiet">Offer: ${offerOf(offer)}</span></td>
        <td>${outcomeOf(outcome)}</td>
      </tr>`,
  );
  const heads = html`<th scope="col">Began</th>
    <th scope="col">Reason and offer</th>
    <th scope="col">Outcome</th>`;
  const none = 'None yet. Here will be each time that the customer began to cancel it.';
  return part('Cancel flow', rows, none, heads, shown);
}

/** A card with the newest of something, or with what will be there. */
function part(
  title: string,
  rows: readonly unknown[],
  none: string,
  heads: Html,
  shown: readonly Html[],
): Html {
  const table = html`<table class="plain">
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${shown}
    </tbody>
  </table>`;
  return html`<section class="card">
    <h2>${title}</h2>
    ${rows.length === 0 ? html`<p class="quiet">${none}</p>` : table} ${newestOnly(rows)}
  </section>`;
}

function facts(visit: ShopVisit, { subscription, standing, interval }: SubscriptionPage): Html {
  const { customerId, planName, planType, currentPrice, createdAt } = subscription;
  const { paidThroughAt } = standing;
  const customerPath = shopPath(visit.shop, `/subscriptions?customer=${customerId}`);
  return html`<section class="card">
    <h2>Facts</h2>
    <dl class="facts">
      <dt>Customer</dt>
      <dd><a href="${customerPath}">${customerId}</a></dd>
      <dt>Plan</dt>
      <dd>${planName} <span class="quiet">${planTypeWords[planType]}</span></dd>
      <dt>Value</dt>
      <dd>${showValue(visit, currentPrice, interval)}</dd>
      <dt>Next billing</dt>
      <dd>${showNextBilling(visit, subscription)}</dd>
      <dt>Paid through</dt>
      <dd>
        ${paidThroughAt ? showDay(visit, paidThroughAt) : html`<span class="quiet">Not known</span>`}
      </dd>
      <dt>Created</dt>
      <dd>${showDay(visit, new Date(createdAt))}</dd>
    </dl>
  </section>`;
}

function history(visit: ShopVisit, { subscription, course: { changes } }: SubscriptionPage): Html {
  const begun = { at: new Date(subscription.createdAt), to: 'active' } as const;
  const all = changes.length === timelineLimit ? changes : [...changes, begun];
  const rows = all.map(
    ({ at, to }) => html`<li>${state(statusWords[to])} ${showDay(visit, at)}</li>`,
  );
  return html`<section class="card">
    <h2>Status</h2>
    <ol class="course">
      ${rows}
    </ol>
    ${newestOnly(changes)}
  </section>`;
}
