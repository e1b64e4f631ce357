/** The values of enumerated fields, shared by the schemas of API responses and import records. */

/** A shop's subscription to this service, lowest first. Called "tier" because "plan" means a selling plan. */
export const tierNames = ['free', 'starter', 'growth', 'pro', 'enterprise_plus'] as const;
export type Tier = (typeof tierNames)[number];

/** The scopes of keys, in the order in which pages and documentation show them. */
export const scopes = [
  'read:entitlements',
  'read:subscriptions',
  'read:metrics',
  'read:plans',
] as const;
export type Scope = (typeof scopes)[number];

/** Characters that the name of a key or a push source may have. */
export const maxNameLength = 80;

export const subscriptionStatuses = ['active', 'paused', 'cancelled', 'expired', 'failed'] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];
/** Those of a subscription that has ended. */
export const endedStatuses: readonly SubscriptionStatus[] = ['cancelled', 'expired', 'failed'];

/** prepaid: billed for several deliveries at once; membership: nothing is shipped. */
export const planTypes = ['subscription', 'prepaid', 'membership', 'other'] as const;
export type PlanType = (typeof planTypes)[number];

export const intervalUnits = ['day', 'week', 'month', 'year'] as const;
export type IntervalUnit = (typeof intervalUnits)[number];

/** fixed_amount: amount off; price: the price itself; none: value 0. */
export const discountTypes = ['percentage', 'fixed_amount', 'price', 'none'] as const;
export type DiscountType = (typeof discountTypes)[number];

export const detectedReasons = [
  'too_expensive',
  'too_much_product',
  'not_using',
  'product_quality',
  'switching_product',
  'switching_product_or_competitor',
  'shipping_delivery',
  'moving_or_travel',
  'accidental_signup',
  'technical_issue',
  'other',
  'unknown',
] as const;
export type DetectedReason = (typeof detectedReasons)[number];

export const offerTypes = ['offer_discount', 'pause', 'swap', 'skip_next'] as const;
export type OfferType = (typeof offerTypes)[number];

/** A session without an outcome is in progress. */
export const sessionOutcomes = ['saved', 'cancelled', 'abandoned'] as const;
export type SessionOutcome = (typeof sessionOutcomes)[number];

export const paymentStatuses = ['succeeded', 'failed', 'pending'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** inventory: out of stock, not a payment failure; neither counted as failed nor put in dunning. */
export const failureKinds = ['payment', 'inventory'] as const;
export type FailureKind = (typeof failureKinds)[number];

/** A source's code for why a payment failed, such as card_declined: never a sentence or an address. */
export const failureCodePattern = /^[A-Za-z0-9_.-]{1,64}$/;
export const failureCodeForm = 'a code of at most 64 letters, digits, "_", "." and "-"';

/** What a member of a shop may do. src/accounts/rights.ts */
export const roles = ['owner', 'developer', 'analyst'] as const;
export type Role = (typeof roles)[number];

/**
 * How a shop's data comes: `records` (files of import records), `export` (exports by a mapping), `push` (requests
 * of the shop's own programs), or one of the feeds of a platform.
 */
export type FeedName = string;
