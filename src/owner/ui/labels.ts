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
  Tier,
} from '../../vocabulary.ts';
import { type Reader, formatCount } from './formats.ts';

/** What a state means to the shop: its colour in dots, bars, lines and links (http/look/tokens.css). */
export type Tone = 'new' | 'kept' | 'risk' | 'lost' | 'neutral';
type States<Value extends string> = Readonly<Record<Value, readonly [label: string, tone: Tone]>>;

export const statusLabels: States<SubscriptionStatus> = {
  active: ['Active', 'kept'],
  paused: ['Paused', 'neutral'],
  cancelled: ['Cancelled', 'lost'],
  expired: ['Expired', 'neutral'],
  failed: ['Failed', 'lost'],
};

export const outcomeLabels: States<SessionOutcome> = {
  saved: ['Saved', 'kept'],
  cancelled: ['Cancelled', 'lost'],
  abandoned: ['Abandoned', 'neutral'],
};

export const paymentLabels: States<PaymentStatus> = {
  succeeded: ['Paid', 'kept'],
  failed: ['Failed', 'risk'],
  pending: ['Pending', 'neutral'],
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
  return outcome === null ? ['In progress', 'risk'] : outcomeLabels[outcome];
}

/** A billing interval, such as `every 2 months`. */
export function everyInterval(visit: Reader, { unit, count }: Interval): string {
  return count === 1 ? `every ${unit}` : `every ${formatCount(visit, count)} ${unit}s`;
}

/** Codes of Shopify, Stripe, Paddle and Recurly by what they mean, in lower case. */
const codesByWords: Readonly<Record<string, string>> = {
  'Insufficient funds': 'insufficient_funds not_enough_balance',
  'Card declined': 'card_declined declined declined_card generic_decline',
  'Payment method declined': 'payment_method_declined retry_declined off_session_rejected',
  'Refused by the bank without a reason': 'do_not_honor',
  'Card expired': 'expired_card declined_expired_card',
  'Payment method expired': 'expired_payment_method',
  'Customer must confirm the payment': 'authentication_required authentication_not_handled',
  'Confirmation failed':
    'authentication_failed authentication_error confirmation_rejected payment_intent_authentication_failure',
  'Card number incorrect': 'incorrect_number invalid_number card_number_incorrect',
  'Security code incorrect': 'incorrect_cvc invalid_cvc declined_security_code',
  'Expiry date incorrect': 'invalid_expiry_date invalid_expiry_month invalid_expiry_year',
  'Address incorrect':
    'incorrect_address incorrect_zip invalid_billing_address invalid_shipping_address',
  'Card reported lost or stolen': 'lost_card stolen_card pickup_card',
  'Suspected fraud': 'fraud fraudulent fraud_suspected blocked_card',
  'Customer must call the bank': 'call_issuer',
  'Not permitted for this card':
    'transaction_not_allowed transaction_not_permitted card_not_supported payment_method_unsupported',
  'Limit of the card exceeded':
    'transaction_limit_exceeded card_velocity_exceeded withdrawal_count_limit_exceeded amount_too_large',
  'Payment method missing':
    'payment_method_not_found payment_method_not_specified invalid_payment_method invalid_payment_details redacted_payment_method',
  'Cancelled by the customer':
    'buyer_canceled_payment_method cancelled_payment canceled revocation_of_authorization',
  'Bank not reachable': 'issuer_unavailable issuer_not_available try_again_later transient_error',
  'Error at the payment provider':
    'processing_error payment_provider_error psp_error system_error paypal_error_general gateway_error',
};

const wordsByCode: ReadonlyMap<string, string> = new Map(
  Object.entries(codesByWords).flatMap(([words, codes]) =>
    codes.split(' ').map((code): [string, string] => [code, words]),
  ),
);

/** A failure code in words, if it is well known; null: the source gave none. */
export function failureWords(code: string | null): string {
  return code === null ? 'No code given' : (wordsByCode.get(code.toLowerCase()) ?? code);
}

/** The same, with the code beside the words. */
export function showFailureCode(code: string | null): Html {
  const words = failureWords(code);
  return code === null || words === code ? html`${words}` : html`${words} <code>${code}</code>`;
}

export const tierNames: Readonly<Record<Tier, string>> = {
  free: 'Free',
  starter: 'Starter',
  growth: 'Growth',
  pro: 'Pro',
  enterprise_plus: 'Enterprise Plus',
};
