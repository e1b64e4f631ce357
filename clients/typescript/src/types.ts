// Written by "npm run generate" from the catalogue of operations.

/** Every subscription the customer has in the shop. The customer is entitled if any of them entitles. */
export interface EntitlementsResponse {
  /** By subscription id, ascending. */
  readonly subscriptions: readonly EntitlementEntry[];
}

/** A subscription of the customer. It entitles while its status is `active` and, in any other status, as long as now is before `paidThroughAt`, the end of the last period that was paid for; if that is unknown, it counts as past. A failed payment alone takes nothing away. */
export interface EntitlementEntry {
  /** The subscription. */
  readonly subscriptionId: number;
  /** The selling plan it is on. */
  readonly planId: number;
  /** The plan's name. */
  readonly planName: string;
  /** The kind of plan: prepaid is billed for several deliveries at once, a membership ships nothing; new values may be added. */
  readonly planType: 'subscription' | 'prepaid' | 'membership' | 'other' | (string & {});
  /** Status of the subscription; new values may be added. */
  readonly status: 'active' | 'paused' | 'cancelled' | 'expired' | 'failed' | (string & {});
  /** Whether the customer is entitled through this subscription right now: it is active, or paidThroughAt lies in the future. */
  readonly isEntitled: boolean;
  /** The end of the last period that was paid for; null where the source never gave one. */
  readonly paidThroughAt: string | null;
}

/** One page of the list of subscriptions. */
export interface SubscriptionPage {
  /** Newest first: by `createdAt`, then by id. */
  readonly subscriptions: readonly Subscription[];
  /** The cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** A subscription without its line items. */
export interface Subscription {
  /** The subscription. */
  readonly subscriptionId: number;
  /** Opaque internal id scoped to the shop; not personal data. */
  readonly customerId: number;
  /** Status of the subscription; new values may be added. */
  readonly status: 'active' | 'paused' | 'cancelled' | 'expired' | 'failed' | (string & {});
  /** The selling plan it is on. */
  readonly planId: number;
  /** The plan's name. */
  readonly planName: string;
  /** The kind of plan: prepaid is billed for several deliveries at once, a membership ships nothing; new values may be added. */
  readonly planType: 'subscription' | 'prepaid' | 'membership' | 'other' | (string & {});
  /** Per-cycle value: line prices times quantity, in the shop's currency, which the metrics summary names in `currency`. */
  readonly currentPrice: number;
  /** The last one known from the source. A subscription that has ended keeps it, and it may lie in the future. Null where the source never gave one. */
  readonly nextBillingDate: string | null;
  /** When the subscription began. */
  readonly createdAt: string;
}

/** One subscription. */
export interface SubscriptionResponse {
  /** The subscription. */
  readonly subscription: SubscriptionDetail;
}

/** What a subscription delivers each cycle. */
export interface LineItem {
  /** Unique within the subscription. */
  readonly lineId: number;
  /** The product in the shop's catalog. */
  readonly productId: number;
  /** The product's name. */
  readonly productTitle: string;
  /** The variant of the product. */
  readonly variantId: number;
  /** Empty where the product has no variants. */
  readonly variantTitle: string;
  /** How many units each cycle brings. */
  readonly quantity: number;
  /** Price of one unit, in the shop's currency, which the metrics summary names in `currency`. */
  readonly currentPrice: number;
}

/** A subscription with its line items. */
export interface SubscriptionDetail {
  /** The subscription. */
  readonly subscriptionId: number;
  /** Opaque internal id scoped to the shop; not personal data. */
  readonly customerId: number;
  /** Status of the subscription; new values may be added. */
  readonly status: 'active' | 'paused' | 'cancelled' | 'expired' | 'failed' | (string & {});
  /** The selling plan it is on. */
  readonly planId: number;
  /** The plan's name. */
  readonly planName: string;
  /** The kind of plan: prepaid is billed for several deliveries at once, a membership ships nothing; new values may be added. */
  readonly planType: 'subscription' | 'prepaid' | 'membership' | 'other' | (string & {});
  /** Per-cycle value: line prices times quantity, in the shop's currency, which the metrics summary names in `currency`. */
  readonly currentPrice: number;
  /** The last one known from the source. A subscription that has ended keeps it, and it may lie in the future. Null where the source never gave one. */
  readonly nextBillingDate: string | null;
  /** When the subscription began. */
  readonly createdAt: string;
  /** What it delivers each cycle. */
  readonly lineItems: readonly LineItem[];
}

/** The metrics summary of the shop. */
export interface MetricsSummaryResponse {
  /** The figures, and when they were measured. */
  readonly summary: MetricsSummary;
}

/** The figures of the shop, all measured at one instant, `generatedAt`. The last 30 days are the 30 × 24 hours before it, the next 7 days the 7 × 24 hours from it on; each includes its beginning and excludes its end. What is dated after `generatedAt` does not count yet. Rates are rounded to 4 decimals and amounts to the digits of the currency, once, at the end, half away from zero. A rate or an average of nothing is 0. */
export interface MetricsSummary {
  /** Customers with at least one active subscription. */
  readonly activeSubscribers: number;
  /** Customers with at least one paused subscription and no active one, also if it is unknown since when. */
  readonly pausedSubscribers: number;
  /** Monthly recurring revenue: the sum of `price × quantity × factor` over the lines of active subscriptions whose trial is over. The factor for a billing interval of n units is `365/(12n)` for days, `365/(84n)` for weeks, `1/n` for months and `1/(12n)` for years; a line without one of its own has the interval of its subscription. */
  readonly mrr: number;
  /** `payments − refunds`: payments that succeeded in the last 30 days and refunds made in the last 30 days; can be negative. */
  readonly revenue30d: number;
  /** Customers whose first subscription ever was created in the last 30 days. */
  readonly newSubscribers30d: number;
  /** Subscriptions that are cancelled now and became so in the last 30 days. */
  readonly cancelled30d: number;
  /** `lost / at risk`. At risk: subscriptions that were active or paused just before the last 30 days began, or became so within them (created or resumed). Lost: those of them that are cancelled or failed now and became so in the last 30 days. Expiry is a planned end, not churn. */
  readonly churnRate30d: number;
  /** `saved / (saved + cancelled + abandoned)`, over cancel-flow sessions created in the last 30 days. */
  readonly saveRate: number;
  /** Cancel-flow sessions created in the last 30 days, including those in progress. */
  readonly cancelSessions30d: number;
  /** Subscriptions with an open dunning case. A failed payment opens one if none is open and the subscription has not ended (cancelled, expired or failed). A payment that succeeds closes it as recovered; the subscription becoming cancelled, expired or failed closes it as lost. */
  readonly dunningActive: number;
  /** `recovered / (recovered + lost)`, over dunning cases closed in the last 30 days. */
  readonly recoveryRate: number;
  /** Billing cycles with at least one failed payment in the last 30 days; a cycle of a subscription counts once. Failures for lack of stock do not count, here or in dunning. */
  readonly failedPayments30d: number;
  /** `sum of currentPrice / number of subscriptions`, over active ones, in their trial or not; per billing cycle, not per month. */
  readonly avgSubscriptionValue: number;
  /** Active subscriptions whose `nextBillingDate` is in the next 7 days; an overdue one is not upcoming. */
  readonly upcomingRenewals7d: number;
  /** Sum of `price × quantity` over the lines of those that are billed at their interval. */
  readonly upcomingRenewalsValue7d: number;
  /** The instant the figures are measured from. */
  readonly generatedAt: string;
  /** The currency of the shop: of all money here and in every other answer, ISO 4217. */
  readonly currency: string;
}

/** All selling plans of the shop. */
export interface SellingPlansResponse {
  /** By id, ascending; all of them. */
  readonly plans: readonly SellingPlan[];
}

/** A way to subscribe: an interval and a price. */
export interface SellingPlan {
  /** The plan; planId elsewhere. */
  readonly id: number;
  /** The plan's name. */
  readonly name: string;
  /** The group of plans it belongs to; may be empty. */
  readonly groupName: string;
  /** The unit of the billing interval; new values may be added. */
  readonly intervalUnit: 'day' | 'week' | 'month' | 'year' | (string & {});
  /** How many units one billing interval has. */
  readonly intervalCount: number;
  /** Whether it is offered to new subscribers. */
  readonly active: boolean;
  /** How many products are sold on it. */
  readonly productCount: number;
  /** What a subscriber pays compared with buying once. */
  readonly pricing: {
    /** What discountValue is: with fixed_amount the amount off, with price the price itself; new values may be added. */
    readonly discountType: 'percentage' | 'fixed_amount' | 'price' | 'none' | (string & {});
    /** A percentage (0 to 100) or money, as discountType says; 0 for none. Money is in the shop's currency, which the metrics summary names in `currency`. */
    readonly discountValue: number;
    /** The same in words. */
    readonly summary: string;
  };
}

/** One page of the list of cancel-flow sessions. */
export interface CancellationPage {
  /** Newest first: by `createdAt`, then by id. */
  readonly cancellations: readonly CancellationSession[];
  /** The cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** A session in the cancel flow: why a customer wanted to leave, and what followed. */
export interface CancellationSession {
  /** The session in the cancel flow. */
  readonly sessionId: number;
  /** Why the customer wanted to leave; new values may be added. */
  readonly detectedReason: 'too_expensive' | 'too_much_product' | 'not_using' | 'product_quality' | 'switching_product' | 'switching_product_or_competitor' | 'shipping_delivery' | 'moving_or_travel' | 'accidental_signup' | 'technical_issue' | 'other' | 'unknown' | (string & {});
  /** How it ended: null while it is in progress; new values may be added. */
  readonly outcome: 'saved' | 'cancelled' | 'abandoned' | (string & {}) | null;
  /** What the customer was offered: null if nothing was; new values may be added. */
  readonly offerType: 'offer_discount' | 'pause' | 'swap' | 'skip_next' | (string & {}) | null;
  /** When the session began. */
  readonly createdAt: string;
}

/** The body of every answer that is not 2xx. */
export interface ErrorEnvelope {
  /** Tells it from a success. */
  readonly success: boolean;
  /** For people: what was wrong, and what to do. */
  readonly message: string;
}

/** What `getEntitlements` asks for. */
export interface GetEntitlementsParameters {
  /** The shop's internal numeric customer id, not an e-mail address. */
  readonly customerId: number;
}

/** What `listSubscriptions` asks for. */
export interface ListSubscriptionsParameters {
  /** How many rows a page holds at most, 1 to 100. */
  readonly limit?: number;
  /** Where the page begins: nextCursor of the previous page, unchanged. Leave it out for the first page. */
  readonly cursor?: string;
  /** Only subscriptions of this status. */
  readonly status?: 'active' | 'paused' | 'cancelled' | 'expired' | 'failed';
}

/** What `listCancellations` asks for. */
export interface ListCancellationsParameters {
  /** How many rows a page holds at most, 1 to 100. */
  readonly limit?: number;
  /** Where the page begins: nextCursor of the previous page, unchanged. Leave it out for the first page. */
  readonly cursor?: string;
  /** Only sessions that ended this way. */
  readonly outcome?: 'saved' | 'cancelled' | 'abandoned';
}
