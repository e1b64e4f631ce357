import { MINUTE } from './calendar.ts';
import type { Plan } from './plans.ts';
import { chance, integer, pickWeighted, type Random, weigh } from './random.ts';
import type { OfferType, SessionOutcome, DetectedReason } from '../vocabulary.ts';

/** A session of a customer in the cancel flow. Times are epoch milliseconds. */
export interface CancelFlowSession {
  reason: DetectedReason;
  offer: OfferType | null;
  outcome: SessionOutcome | null;
  at: number;
  /** When it ended; equal to `at` while it is in progress. */
  closedAt: number;
}

// Sessions count as abandoned after this long without activity.
const ABANDONED_AFTER = 30 * MINUTE;

const REASONS = weigh<keyof typeof OFFERS>([
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

// Offers by reason; null means no offer.
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
} satisfies Partial<Record<DetectedReason, unknown>>;

/**
 * Simulates a session that starts at `at`. If it would end after `endAt`, it is still in progress.
 */
export function simulateSession(
  random: Random,
  plan: Plan,
  outcome: SessionOutcome | null,
  at: number,
  endAt: number,
): CancelFlowSession {
  const reason = pickWeighted(random, REASONS);
  let offer = applicableOffer(pickWeighted(random, OFFERS[reason]), plan);
  // A saved session always has an offer.
  if (outcome === 'saved') offer ??= 'offer_discount';
  const duration = outcome === 'abandoned' ? ABANDONED_AFTER : integer(random, MINUTE, 14 * MINUTE);
  if (outcome === null || at + duration >= endAt) {
    return { reason, offer, outcome: null, at, closedAt: at };
  }
  return { reason, offer, outcome, at, closedAt: at + duration };
}

/** The outcome of a session after which the customer stays. */
export function pickRetainedOutcome(random: Random): SessionOutcome {
  return chance(random, 0.62) ? 'saved' : 'abandoned';
}

/** The offer, or a discount if the plan cannot be paused, swapped or skipped. */
function applicableOffer(offer: OfferType | null, plan: Plan): OfferType | null {
  const ships = plan.planType === 'subscription' || plan.planType === 'prepaid';
  const impossible =
    (offer === 'pause' && !canPause(plan)) ||
    (offer === 'skip_next' && !canSkip(plan)) ||
    (offer === 'swap' && !ships);
  return impossible ? 'offer_discount' : offer;
}

/** Plans with a fixed prepaid term cannot be paused. */
export function canPause(plan: Plan): boolean {
  return plan.term === undefined;
}

/** Only plans that bill each delivery can skip one. */
export function canSkip(plan: Plan): boolean {
  return plan.planType === 'subscription';
}
