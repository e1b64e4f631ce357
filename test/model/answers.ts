import { statusAt } from './history.ts';
import { priceOf, roundedPrice } from './money.ts';
import type { Line, Outcome, Status, Subscription } from './records.ts';
import type { ModelShop } from './shop.ts';

const iso = (time: string) => new Date(time).toISOString();

/** Newest first, then by descending id. */
function newestFirst<Row extends { readonly createdAt: string; readonly id: number }>(
  rows: readonly Row[],
): Row[] {
  return rows.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || b.id - a.id);
}

function subscriptionOf(shop: ModelShop, subscription: Subscription, status: Status) {
  const plan = shop.planOf(subscription);
  return {
    subscriptionId: subscription.id,
    customerId: subscription.customerId,
    status,
    planId: plan.id,
    planName: plan.name,
    planType: plan.planType,
    currentPrice: roundedPrice(priceOf(subscription.lines), shop.digits),
    nextBillingDate:
      subscription.nextBillingDate === undefined ? null : iso(subscription.nextBillingDate),
    createdAt: iso(subscription.createdAt),
  };
}

/** Those of a status are found by the last one, and shown with it. @param now epoch milliseconds */
export function subscriptionsOf(shop: ModelShop, now: number, status?: Status) {
  return newestFirst(shop.subscriptions)
    .filter((each) => status === undefined || each.status === status)
    .map((each) => subscriptionOf(shop, each, status ?? statusAt(each, now).status));
}

export function detailOf(shop: ModelShop, id: number, now: number) {
  const subscription = shop.subscriptions.find((each) => each.id === id);
  if (!subscription) return undefined;
  const lineItems = subscription.lines.map((line: Line) => ({
    lineId: line.lineId,
    productId: line.productId,
    productTitle: line.productTitle,
    variantId: line.variantId,
    variantTitle: line.variantTitle ?? '',
    quantity: line.quantity,
    currentPrice: roundedPrice(priceOf([{ ...line, quantity: 1 }]), shop.digits),
  }));
  return { ...subscriptionOf(shop, subscription, statusAt(subscription, now).status), lineItems };
}

export function entitlementsOf(shop: ModelShop, customerId: number, now: number) {
  return shop.subscriptions
    .filter((each) => each.customerId === customerId)
    .toSorted((a, b) => a.id - b.id)
    .map((each) => {
      const { status } = statusAt(each, now);
      const { planId, planName, planType } = subscriptionOf(shop, each, status);
      const isPaidFor = each.paidThroughAt !== undefined && now < Date.parse(each.paidThroughAt);
      return {
        subscriptionId: each.id,
        planId,
        planName,
        planType,
        status,
        isEntitled: status === 'active' || isPaidFor,
        paidThroughAt: each.paidThroughAt === undefined ? null : iso(each.paidThroughAt),
      };
    });
}

export function plansOf(shop: ModelShop) {
  return shop.plans
    .toSorted((a, b) => a.id - b.id)
    .map((plan) => ({
      id: plan.id,
      name: plan.name,
      groupName: plan.groupName ?? '',
      intervalUnit: plan.intervalUnit,
      intervalCount: plan.intervalCount,
      active: plan.active ?? true,
      productCount: plan.productIds?.length ?? 0,
      pricing: plan.pricing
        ? { ...plan.pricing, discountValue: Number(plan.pricing.discountValue) }
        : { discountType: 'none', discountValue: 0, summary: 'No discount' },
    }));
}

export function cancellationsOf(shop: ModelShop, outcome?: Outcome) {
  return newestFirst(shop.sessions)
    .filter((each) => outcome === undefined || each.outcome === outcome)
    .map((each) => ({
      sessionId: each.id,
      detectedReason: each.detectedReason,
      outcome: each.outcome ?? null,
      offerType: each.offerType ?? null,
      createdAt: iso(each.createdAt),
    }));
}
