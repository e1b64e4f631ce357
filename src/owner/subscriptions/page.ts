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
import type { SourceId } from '../../store/records/source-ids.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import { page } from '../ui/answers.ts';
import type { ShopVisit } from '../pages.ts';
import { showFailureCode } from '../recovery/failure-codes.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { formatCount, formatMoney } from '../ui/locale.ts';
import { showNextBilling, showValue } from './list.ts';
import { showDay, showTime } from '../ui/times.ts';
import {
  failureLabels,
  offerLabel,
  outcomeState,
  paymentLabels,
  planTypeLabels,
  reasonLabels,
  state,
  statusLabels,
} from '../ui/labels.ts';

type SubscriptionDetail = z.infer<typeof subscriptionDetail>;

interface SubscriptionPage {
  readonly subscription: SubscriptionDetail;
  readonly standing: Standing;
  readonly timeline: Timeline;
  /** Undefined if the subscription was deleted in the meantime. */
  readonly interval: Interval | undefined;
  /** Of the subscription and its customer, as far as they are known. */
  readonly sourceIds: readonly SourceId[];
  /** Epoch milliseconds. */
  readonly now: number;
}

export function subscriptionPage(visit: ShopVisit, parts: SubscriptionPage): Answer {
  const { subscription, standing, timeline, now } = parts;
  const content = html`
    <p class="standing">
      ${state(statusLabels[standing.status])}
      <span class="quiet">since ${showDay(visit, standing.statusSince)}</span>
    </p>
    <p class="${isEntitledNow(standing, now) ? 'verdict good' : 'verdict over'}">
      ${entitlementOf(visit, standing, now)}
    </p>
    ${
      timeline.dunningSince &&
      html`<p class="verdict attention">
        <strong>In dunning</strong> since ${showDay(visit, timeline.dunningSince)}: a payment
        failed, and none has succeeded since.
      </p>`
    }
    <div class="columns">
      <div>${details(visit, parts)} ${statusHistory(visit, parts)}</div>
      <div>
        ${items(visit, subscription)} ${payments(visit, timeline.payments)}
        ${sessions(visit, timeline.sessions)}
      </div>
    </div>
  `;
  return page(
    layout(visit, {
      title: `Subscription ${subscription.subscriptionId}`,
      content,
    }),
  );
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
    <h2>Items per cycle</h2>
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

/** A note that only the newest rows are shown, if there may be more. */
const truncationNote = (rows: readonly unknown[]) =>
  rows.length === timelineLimit
    ? html`<p class="quiet">Only the latest ${timelineLimit} are shown.</p>`
    : undefined;

function payments(visit: ShopVisit, rows: readonly PaymentRow[]): Html {
  const money = (amount: string) => formatMoney(visit, visit.shop, Number(amount));
  const shown = rows.map(
    ({ processedAt, cycle, status, failureKind, failureCode, amount, refunded, refundedAt }) =>
      html`<tr>
        <th scope="row">
          ${showDay(visit, processedAt)} <span class="quiet">Cycle ${cycle}</span>
        </th>
        <td>
          ${state(paymentLabels[status])}
          ${
            status === 'failed' && failureKind !== null
              ? html`<span class="quiet">${failureLabels[failureKind]}</span>
                  ${failureCode === null ? undefined : html`<span class="quiet">${showFailureCode(failureCode)}</span>`}`
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
  const empty = 'Billing attempts appear here, with failures and refunds.';
  return recentCard('Payments', rows, empty, heads, shown);
}

function sessions(visit: ShopVisit, rows: readonly SessionRow[]): Html {
  const shown = rows.map(
    ({ createdAt, detectedReason, offerType, outcome }) =>
      html`<tr>
        <th scope="row">${showDay(visit, createdAt)}</th>
        <td>
          ${reasonLabels[detectedReason]} <span class="quiet">Offer: ${offerLabel(offerType)}</span>
        </td>
        <td>${state(outcomeState(outcome))}</td>
      </tr>`,
  );
  const heads = html`<th scope="col">Started</th>
    <th scope="col">Reason and offer</th>
    <th scope="col">Outcome</th>`;
  const empty = 'Cancel-flow sessions appear here, with reason, offer and outcome.';
  return recentCard('Cancel flow', rows, empty, heads, shown);
}

/** A card with the newest rows, or with a text that says what will appear. */
function recentCard(
  title: string,
  rows: readonly unknown[],
  empty: string,
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
    ${rows.length === 0 ? html`<p class="quiet">${empty}</p>` : table} ${truncationNote(rows)}
  </section>`;
}

function details(visit: ShopVisit, parts: SubscriptionPage): Html {
  const { subscription, standing, interval, sourceIds } = parts;
  const { customerId, planName, planType, currentPrice, createdAt } = subscription;
  const { paidThroughAt } = standing;
  const sourceId = (kind: RecordKind) => sourceIds.find((each) => each.kind === kind)?.sourceId;
  const customerPath = shopPath(visit.shop, `/subscriptions?customer=${customerId}`);
  return html`<section class="card">
    <h2>Details</h2>
    <dl class="details">
      <dt>Customer</dt>
      <dd>
        <a href="${customerPath}">${customerId}</a>
        <span class="quiet">${sourceId('customer')}</span>
      </dd>
      ${
        sourceId('subscription') &&
        html`<dt>Id at the source</dt>
          <dd>${sourceId('subscription')}</dd>`
      }
      <dt>Plan</dt>
      <dd>${planName} <span class="quiet">${planTypeLabels[planType]}</span></dd>
      <dt>Value</dt>
      <dd>${showValue(visit, currentPrice, interval)}</dd>
      <dt>Next billing</dt>
      <dd>${showNextBilling(visit, subscription)}</dd>
      <dt>Paid through</dt>
      <dd>
        ${paidThroughAt ? showDay(visit, paidThroughAt) : html`<span class="quiet">Unknown</span>`}
      </dd>
      <dt>Created</dt>
      <dd>${showDay(visit, new Date(createdAt))}</dd>
    </dl>
  </section>`;
}

function statusHistory(
  visit: ShopVisit,
  { subscription, timeline: { changes } }: SubscriptionPage,
): Html {
  const created = { at: new Date(subscription.createdAt), to: 'active' } as const;
  const all = changes.length === timelineLimit ? changes : [...changes, created];
  const rows = all.map(
    ({ at, to }) => html`<li>${state(statusLabels[to])} ${showDay(visit, at)}</li>`,
  );
  return html`<section class="card">
    <h2>Status history</h2>
    <ol class="timeline">
      ${rows}
    </ol>
    ${truncationNote(changes)}
  </section>`;
}
