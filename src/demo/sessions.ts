import { MINUTE } from './calendar.ts';
import type { Plan } from './plans.ts';
import { chance, integer, pickWeighted, type Random, weigh } from './random.ts';
import type { OfferType, Outcome, Reason } from './records.ts';

/** One conversation with somebody who wants to cancel. Times are epoch milliseconds. */
export interface Session {
  reason: Reason;
  offer: OfferType | null;
  outcome: Outcome | null;
  at: number;
  /** When the outcome came; the same as `at` while there is none. */
  closedAt: number;
}

// Who has said nothing for this long is taken to have gone.
const ABANDONED_AFTER = 30 * MINUTE;

const REASONS = weigh<Reason>([
  ['too_expensive', 26],
  ['too_much_product', 20],
  ['not_using', 14],
  ['other', 8],
  ['product_quality', 7],
  ['switching_product', 6],
  ['shipping_delivery', 6],
  ['moving_or_travel', 5],
  ['unknown', 4],
  ['accidental_signup', 2.5],
  ['technical_issue', 1.5],
]);

// What the shop puts forward for each reason; null where it lets people go unasked.
const OFFERS = {
  too_expensive: weigh<OfferType | null>([
    ['offer_discount', 80],
    ['pause', 12],
    [null, 8],
  ]),
  too_much_product: weigh<OfferType | null>([
    ['skip_next', 55],
    ['pause', 40],
    [null, 5],
  ]),
  not_using: weigh<OfferType | null>([
    ['pause', 65],
    ['skip_next', 20],
    [null, 15],
  ]),
  product_quality: weigh<OfferType | null>([
    ['swap', 75],
    ['offer_discount', 10],
    [null, 15],
  ]),
  switching_product: weigh<OfferType | null>([
    ['swap', 60],
    ['offer_discount', 25],
    [null, 15],
  ]),
  shipping_delivery: weigh<OfferType | null>([
    ['skip_next', 35],
    ['offer_discount', 25],
    [null, 40],
  ]),
  moving_or_travel: weigh<OfferType | null>([
    ['pause', 70],
    [null, 30],
  ]),
  accidental_signup: weigh<OfferType | null>([[null, 1]]),
  technical_issue: weigh<OfferType | null>([
    [null, 80],
    ['offer_discount', 20],
  ]),
  other: weigh<OfferType | null>([
    ['offer_discount', 45],
    ['pause', 20],
    [null, 35],
  ]),
  unknown: weigh<OfferType | null>([
    ['offer_discount', 30],
    [null, 70],
  ]),
} satisfies Record<Reason, unknown>;

/**
 * A session that began at `at`; if it comes to `outcome` only after `endAt`, it is still in
 * progress.
 */
export function converse(
  random: Random,
  plan: Plan,
  outcome: Outcome | null,
  at: number,
  endAt: number,
): Session {
  const reason = pickWeighted(random, REASONS);
  let offer = fitting(pickWeighted(random, OFFERS[reason]), plan);
  // Nobody is saved by an offer that was not made.
  if (outcome === 'saved') offer ??= 'offer_discount';
  const lasting = outcome === 'abandoned' ? ABANDONED_AFTER : integer(random, MINUTE, 14 * MINUTE);
  if (outcome === null || at + lasting >= endAt) {
    return { reason, offer, outcome: null, at, closedAt: at };
  }
  return { reason, offer, outcome, at, closedAt: at + lasting };
}

/** How talks end for those who do not leave: talked round, or off without a word. */
export function staysAs(random: Random): Outcome {
  return chance(random, 0.62) ? 'saved' : 'abandoned';
}

/** The offer, or a discount where the plan has nothing to pause, swap or skip. */
function fitting(offer: OfferType | null, plan: Plan): OfferType | null {
  const ships = plan.planType === 'subscription' || plan.planType === 'prepaid';
  const impossible =
    (offer === 'pause' && !canPause(plan)) ||
    (offer === 'skip_next' && !canSkip(plan)) ||
    (offer === 'swap' && !ships);
  return impossible ? 'offer_discount' : offer;
}

/** Whether the plan's subscriptions can rest: not where a fixed term has been paid ahead. */
export function canPause(plan: Plan): boolean {
  return plan.term === undefined;
}

/** Whether one delivery can be left out: only where deliveries are paid for one by one. */
export function canSkip(plan: Plan): boolean {
  return plan.planType === 'subscription';
}
