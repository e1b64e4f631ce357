import { type Html, html } from '../../http/html.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import type {
  DetectedReason,
  FailureKind,
  OfferType,
  PaymentStatus,
  PlanType,
  SessionOutcome,
  SubscriptionStatus,
} from '../../vocabulary.ts';
import { formatCount } from './locale.ts';
import type { Visit } from '../visit.ts';

/** What a state means to the shop, for which its dot has a colour. */
type Tone = 'good' | 'attention' | 'bad' | 'over';
type States<Word extends string> = Readonly<Record<Word, readonly [label: string, tone: Tone]>>;

export const statusWords: States<SubscriptionStatus> = {
  active: ['Active', 'good'],
  paused: ['Paused', 'attention'],
  cancelled: ['Cancelled', 'over'],
  expired: ['Expired', 'over'],
  failed: ['Failed', 'bad'],
};

export const outcomeWords: States<SessionOutcome> = {
  saved: ['Saved', 'good'],
  cancelled: ['Cancelled', 'bad'],
  abandoned: ['Abandoned', 'over'],
};

export const paymentWords: States<PaymentStatus> = {
  succeeded: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  pending: ['Pending', 'attention'],
};

export const failureWords: Readonly<Record<FailureKind, string>> = {
  payment: 'The payment was refused',
  inventory: 'Out of stock, which is not counted as a failed payment',
};

export const planTypeWords: Readonly<Record<PlanType, string>> = {
  subscription: 'Subscription',
  prepaid: 'Prepaid: billed for several deliveries at once',
  membership: 'Membership: nothing is shipped',
  other: 'Another kind',
};

export const reasonWords: Readonly<Record<DetectedReason, string>> = {
  too_expensive: 'Too expensive',
  too_much_product: 'Has too much of it',
  not_using: 'Does not use it',
  product_quality: 'Quality of the product',
  switching_product: 'Wants another product',
  switching_product_or_competitor: 'Wants another product or shop',
  shipping_delivery: 'Shipping or delivery',
  moving_or_travel: 'Moves or travels',
  accidental_signup: 'Signed up by accident',
  technical_issue: 'Technical trouble',
  other: 'Another reason',
  unknown: 'Not known',
};

const offerWords: Readonly<Record<OfferType, string>> = {
  offer_discount: 'A discount',
  pause: 'A pause',
  swap: 'Another product',
  skip_next: 'Skipping the next order',
};

export function offerOf(offer: OfferType | null): string {
  return offer === null ? 'None' : offerWords[offer];
}

/** A word with a dot. */
export function state([label, tone]: readonly [string, Tone]): Html {
  return html`<span class="dot ${tone}">${label}</span>`;
}

export function outcomeOf(outcome: SessionOutcome | null): Html {
  return state(outcome === null ? ['In progress', 'attention'] : outcomeWords[outcome]);
}

/** How often, such as `every 2 months`. */
export function everyInterval(visit: Visit, { unit, count }: Interval): string {
  return count === 1 ? `every ${unit}` : `every ${formatCount(visit, count)} ${unit}s`;
}
