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

/** What a state means to the shop; sets the colour of its dot. */
export type Tone = 'good' | 'attention' | 'bad' | 'over';
type States<Value extends string> = Readonly<Record<Value, readonly [label: string, tone: Tone]>>;

export const statusLabels: States<SubscriptionStatus> = {
  active: ['Active', 'good'],
  paused: ['Paused', 'attention'],
  cancelled: ['Cancelled', 'over'],
  expired: ['Expired', 'over'],
  failed: ['Failed', 'bad'],
};

export const outcomeLabels: States<SessionOutcome> = {
  saved: ['Saved', 'good'],
  cancelled: ['Cancelled', 'bad'],
  abandoned: ['Abandoned', 'over'],
};

export const paymentLabels: States<PaymentStatus> = {
  succeeded: ['Paid', 'good'],
  failed: ['Failed', 'bad'],
  pending: ['Pending', 'attention'],
};

export const failureLabels: Readonly<Record<FailureKind, string>> = {
  payment: 'Payment declined',
  inventory: 'Out of stock (not counted as a failed payment)',
};

export const planTypeLabels: Readonly<Record<PlanType, string>> = {
  subscription: 'Subscription',
  prepaid: 'Prepaid: billed for several deliveries at once',
  membership: 'Membership: nothing is shipped',
  other: 'Other',
};

export const reasonLabels: Readonly<Record<DetectedReason, string>> = {
  too_expensive: 'Too expensive',
  too_much_product: 'Has too much product',
  not_using: 'Not using it',
  product_quality: 'Product quality',
  switching_product: 'Switching to another product',
  switching_product_or_competitor: 'Switching to another product or shop',
  shipping_delivery: 'Shipping or delivery',
  moving_or_travel: 'Moving or travelling',
  accidental_signup: 'Signed up by accident',
  technical_issue: 'Technical issue',
  other: 'Other',
  unknown: 'Unknown',
};

const offerLabels: Readonly<Record<OfferType, string>> = {
  offer_discount: 'Discount',
  pause: 'Pause',
  swap: 'Product swap',
  skip_next: 'Skip next order',
};

export function offerLabel(offer: OfferType | null): string {
  return offer === null ? 'None' : offerLabels[offer];
}

/** A state as a word with a coloured dot. */
export function state([label, tone]: readonly [string, Tone]): Html {
  return html`<span class="dot ${tone}">${label}</span>`;
}

/** Null while the session is in progress. */
export function outcomeState(outcome: SessionOutcome | null): readonly [label: string, tone: Tone] {
  return outcome === null ? ['In progress', 'attention'] : outcomeLabels[outcome];
}

/** A billing interval, such as `every 2 months`. */
export function everyInterval(visit: Visit, { unit, count }: Interval): string {
  return count === 1 ? `every ${unit}` : `every ${formatCount(visit, count)} ${unit}s`;
}
