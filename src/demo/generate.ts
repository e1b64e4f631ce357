import { HISTORY, signUpTimes } from './calendar.ts';
import { failureCodesOf } from './billing.ts';
import type { Charge, Lifecycle } from './lifecycle.ts';
import { simulate } from './simulate.ts';
import type {
  CancellationRecord,
  DemoRecord,
  PaymentRecord,
  RefundRecord,
  SubscriptionRecord,
} from './records.ts';
import { formatMinor } from './money.ts';
import { type PriceChange, changePrice, valuesOf } from './prices.ts';
import { type Basket, createPlans, fillBasket, type Plan, RETIRED_AFTER } from './plans.ts';
import { chance, createRandom, integer, pickWeighted, type Random, weigh } from './random.ts';

export interface ShopOptions {
  /** The number of subscriptions, ended ones included. */
  subscriptions: number;
  /** An integer from 0 to 2^53 - 1; every seed gives another shop. */
  seed: number;
  /** The end of the two-year history, in epoch milliseconds. */
  endAt: number;
  /** ISO 4217 */
  currency: string;
  /** Decimal places of the currency. */
  minorDigits: number;
}

/** The next id of each kind; plans, products and variants are numbered by the catalogue. */
interface Counters {
  subscription: number;
  customer: number;
  line: number;
  payment: number;
  refund: number;
  session: number;
}

const FIRST_CUSTOMER_ID = 501;

/**
 * Generates a realistic subscription shop as import records: the plans, then each subscription in
 * order of creation, followed by its payments, refunds and cancellation sessions. The same options
 * give the same records on every machine. Memory use does not grow with the number of
 * subscriptions.
 */
export function* generateShop(options: ShopOptions): Generator<DemoRecord> {
  const { subscriptions, seed, endAt, minorDigits } = options;
  const startAt = endAt - HISTORY;
  const retiredAt = startAt + RETIRED_AFTER * HISTORY;
  const plans = createPlans({ code: options.currency, minorDigits }, iso(startAt), iso(retiredAt));
  for (const { record } of plans) yield record;

  const currentPlans = weigh(plans.map((plan) => [plan, plan.retired ? 0 : plan.popularity]));
  const formerPlans = weigh(plans.map((plan) => [plan, plan.popularity]));
  const timeOf = signUpTimes(seed, endAt);
  const next: Counters = {
    subscription: 1001,
    customer: FIRST_CUSTOMER_ID,
    line: 1,
    payment: 900_001,
    refund: 70_001,
    session: 50_001,
  };
  for (let index = 0; index < subscriptions; index++) {
    // Stream 0 is for the sign-up times.
    const random = createRandom(seed, index + 1);
    const createdAt = timeOf((index + random()) / subscriptions);
    const customerId = chooseCustomer(random, next);
    const plan = pickWeighted(random, createdAt < retiredAt ? formerPlans : currentPlans);
    const basket = fillBasket(random, plan, minorDigits, next.line);
    next.line += basket.lines.length;
    const lifecycle = simulate(random, plan, createdAt, endAt);
    const id = next.subscription++;
    // Streams of their own, so that all else is as it would be without.
    const change = changePrice(createRandom(seed, 2 ** 31 + index), lifecycle, createdAt);
    const subscription = writeSubscription(id, customerId, createdAt, plan, basket, lifecycle);
    yield change
      ? withPast(subscription, change, valuesOf(basket, lifecycle, minorDigits, change.percent))
      : subscription;
    yield* writePayments(id, basket, minorDigits, lifecycle, next, change);
    yield* writeSessions(id, lifecycle, next);
  }
}

/** Usually a new customer, otherwise a recent one, so that few have a third subscription. */
function chooseCustomer(random: Random, next: Counters): number {
  const existing = next.customer - FIRST_CUSTOMER_ID;
  if (existing >= 20 && chance(random, 0.14)) {
    return next.customer - 1 - integer(random, 0, Math.floor(existing * 0.4));
  }
  return next.customer++;
}

function writeSubscription(
  id: number,
  customerId: number,
  createdAt: number,
  plan: Plan,
  basket: Basket,
  lifecycle: Lifecycle,
): SubscriptionRecord {
  return {
    type: 'subscription',
    id,
    customerId,
    planId: plan.id,
    status: lifecycle.status,
    createdAt: iso(createdAt),
    updatedAt: iso(lifecycle.updatedAt),
    ...(lifecycle.hasNextBilling ? { nextBillingDate: iso(lifecycle.dueAt) } : {}),
    ...(lifecycle.paidThroughAt === undefined
      ? {}
      : { paidThroughAt: iso(lifecycle.paidThroughAt) }),
    ...(lifecycle.trialEndsAt === undefined ? {} : { trialEndsAt: iso(lifecycle.trialEndsAt) }),
    ...(lifecycle.events.length === 0
      ? {}
      : { statusEvents: lifecycle.events.map(({ at, to }) => ({ at: iso(at), to })) }),
    lines: basket.lines,
  };
}

function withPast(
  record: SubscriptionRecord,
  { at }: PriceChange,
  [before, now]: readonly [string, string],
): SubscriptionRecord {
  const valueEvents = [
    { at: record.createdAt, mrr: before },
    { at: iso(at), mrr: now },
  ];
  return { ...record, valueEvents };
}

function* writePayments(
  subscriptionId: number,
  { total, yearly }: Basket,
  minorDigits: number,
  lifecycle: Lifecycle,
  next: Counters,
  change: PriceChange | undefined,
): Generator<PaymentRecord | RefundRecord> {
  const amountOf = ({ isYearly, at }: Charge) => {
    const amount = total + (isYearly ? yearly : 0);
    return change && at < change.at ? Math.round((amount * change.percent) / 100) : amount;
  };
  const firstId = next.payment;
  const failureCodes = failureCodesOf(lifecycle.charges);
  for (const charge of lifecycle.charges) {
    const { cycle, status, failureKind, at } = charge;
    const processedAt = iso(at);
    const failureCode = failureKind === 'payment' ? failureCodes.get(cycle) : undefined;
    yield {
      type: 'payment',
      id: next.payment++,
      subscriptionId,
      cycle,
      status,
      ...(failureKind ? { failureKind } : {}),
      ...(failureCode ? { failureCode } : {}),
      amount: formatMinor(amountOf(charge), minorDigits),
      processedAt,
      updatedAt: processedAt,
    };
  }
  for (const [index, charge] of lifecycle.charges.entries()) {
    const { refund } = charge;
    if (!refund) continue;
    const part = Math.max(1, Math.floor(amountOf(charge) * refund.share));
    const refundedAt = iso(refund.at);
    yield {
      type: 'refund',
      id: next.refund++,
      paymentId: firstId + index,
      amount: formatMinor(part, minorDigits),
      refundedAt,
      updatedAt: refundedAt,
    };
  }
}

function* writeSessions(
  subscriptionId: number,
  lifecycle: Lifecycle,
  next: Counters,
): Generator<CancellationRecord> {
  for (const { reason, offer, outcome, at, closedAt } of lifecycle.sessions) {
    yield {
      type: 'cancellation',
      id: next.session++,
      subscriptionId,
      detectedReason: reason,
      offerType: offer,
      outcome,
      createdAt: iso(at),
      updatedAt: iso(closedAt),
    };
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
