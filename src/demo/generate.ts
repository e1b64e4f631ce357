import { HISTORY, signUpTimes } from './calendar.ts';
import { live } from './course.ts';
import type { Life } from './life.ts';
import { type Basket, fillBasket } from './lines.ts';
import { formatMinor } from './money.ts';
import { createPlans, type Plan, RETIRED_AFTER } from './plans.ts';
import { chance, createRandom, integer, pickWeighted, type Random, weigh } from './random.ts';
import type {
  CancellationRecord,
  DemoRecord,
  PaymentRecord,
  RefundRecord,
  SubscriptionRecord,
} from './records.ts';

export interface ShopOptions {
  /** How many subscriptions the shop ever had. */
  subscriptions: number;
  /** An integer from 0 to 2^53 - 1; another seed, another shop. */
  seed: number;
  /** The world's "now" in epoch milliseconds; its history is the two years before. */
  endAt: number;
  /** ISO 4217 */
  currency: string;
  /** Digits after the point in that currency. */
  minorDigits: number;
}

/** The ids that come next; what is not listed has its own in the catalogue. */
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
 * A believable subscription shop as import records: the plans, then each subscription in order of its
 * creation, followed by its payments, refunds and cancellation sessions. The same options give the
 * same records on every machine. Nothing is kept of a subscription once it is out, so memory does not
 * grow with their number.
 */
export function* generateShop(options: ShopOptions): Generator<DemoRecord> {
  const { subscriptions, seed, endAt, minorDigits } = options;
  const startAt = endAt - HISTORY;
  const retiredAt = startAt + RETIRED_AFTER * HISTORY;
  const plans = createPlans({ code: options.currency, minorDigits }, iso(startAt), iso(retiredAt));
  for (const { record } of plans) yield record;

  const offered = weigh(plans.map((plan) => [plan, plan.retired ? 0 : plan.popularity]));
  const offeredOnce = weigh(plans.map((plan) => [plan, plan.popularity]));
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
    // Stream 0 belongs to the shop itself.
    const random = createRandom(seed, index + 1);
    const createdAt = timeOf((index + random()) / subscriptions);
    const customerId = chooseCustomer(random, next);
    const plan = pickWeighted(random, createdAt < retiredAt ? offeredOnce : offered);
    const basket = fillBasket(random, plan, minorDigits, next.line);
    next.line += basket.lines.length;
    const life = live(random, plan, createdAt, endAt);
    const id = next.subscription++;
    yield writeSubscription(id, customerId, createdAt, plan, basket, life);
    yield* writePayments(id, basket.total, minorDigits, life, next);
    yield* writeSessions(id, life, next);
  }
}

/** Mostly somebody new; else one of the more recent customers, so that few come a third time. */
function chooseCustomer(random: Random, next: Counters): number {
  const known = next.customer - FIRST_CUSTOMER_ID;
  if (known >= 20 && chance(random, 0.14)) {
    return next.customer - 1 - integer(random, 0, Math.floor(known * 0.4));
  }
  return next.customer++;
}

function writeSubscription(
  id: number,
  customerId: number,
  createdAt: number,
  plan: Plan,
  basket: Basket,
  life: Life,
): SubscriptionRecord {
  return {
    type: 'subscription',
    id,
    customerId,
    planId: plan.id,
    status: life.status,
    createdAt: iso(createdAt),
    updatedAt: iso(life.updatedAt),
    ...(life.goesOn ? { nextBillingDate: iso(life.dueAt) } : {}),
    ...(life.paidThroughAt === undefined ? {} : { paidThroughAt: iso(life.paidThroughAt) }),
    ...(life.events.length === 0
      ? {}
      : { statusEvents: life.events.map(({ at, to }) => ({ at: iso(at), to })) }),
    lines: basket.lines,
  };
}

function* writePayments(
  subscriptionId: number,
  total: number,
  minorDigits: number,
  life: Life,
  next: Counters,
): Generator<PaymentRecord | RefundRecord> {
  const amount = formatMinor(total, minorDigits);
  const firstId = next.payment;
  for (const { cycle, status, failureKind, at } of life.charges) {
    const processedAt = iso(at);
    yield {
      type: 'payment',
      id: next.payment++,
      subscriptionId,
      cycle,
      status,
      ...(failureKind ? { failureKind } : {}),
      amount,
      processedAt,
      updatedAt: processedAt,
    };
  }
  for (const [index, { refund }] of life.charges.entries()) {
    if (!refund) continue;
    const part = Math.max(1, Math.floor(total * refund.share));
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
  life: Life,
  next: Counters,
): Generator<CancellationRecord> {
  for (const { reason, offer, outcome, at, closedAt } of life.sessions) {
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
