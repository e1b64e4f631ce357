/**
 * The import records of the demo shop. Amounts are decimal strings with exactly the currency's
 * decimal places; timestamps are ISO 8601 in UTC with milliseconds.
 */
export type DemoRecord =
  | PlanRecord
  | SubscriptionRecord
  | PaymentRecord
  | RefundRecord
  | CancellationRecord;

export type IntervalUnit = 'day' | 'week' | 'month' | 'year';
export type PlanType = 'subscription' | 'prepaid' | 'membership' | 'other';
export type DiscountType = 'percentage' | 'fixed_amount' | 'price' | 'none';
export type Status = 'active' | 'paused' | 'cancelled' | 'expired' | 'failed';
export type PaymentStatus = 'succeeded' | 'failed' | 'pending';
export type FailureKind = 'payment' | 'inventory';
export type OfferType = 'offer_discount' | 'pause' | 'swap' | 'skip_next';
export type SessionOutcome = 'saved' | 'cancelled' | 'abandoned';
export type Reason =
  | 'too_expensive'
  | 'too_much_product'
  | 'not_using'
  | 'product_quality'
  | 'switching_product'
  | 'shipping_delivery'
  | 'moving_or_travel'
  | 'accidental_signup'
  | 'technical_issue'
  | 'other'
  | 'unknown';

export interface PlanRecord {
  type: 'plan';
  id: number;
  name: string;
  groupName: string;
  planType: PlanType;
  intervalUnit: IntervalUnit;
  intervalCount: number;
  active: boolean;
  productIds: number[];
  updatedAt: string;
  /** The value is a number for percentage and none, and a decimal string for money. */
  pricing?: { discountType: DiscountType; discountValue: number | string };
}

export interface LineRecord {
  lineId: number;
  productId: number;
  productTitle: string;
  variantId: number;
  /** Absent if the product has no variants. */
  variantTitle?: string;
  quantity: number;
  currentPrice: string;
}

export interface SubscriptionRecord {
  type: 'subscription';
  id: number;
  customerId: number;
  planId: number;
  status: Status;
  createdAt: string;
  updatedAt: string;
  nextBillingDate?: string;
  paidThroughAt?: string;
  statusEvents?: { at: string; to: Status }[];
  lines: LineRecord[];
}

export interface PaymentRecord {
  type: 'payment';
  id: number;
  subscriptionId: number;
  cycle: string;
  status: PaymentStatus;
  failureKind?: FailureKind;
  failureCode?: string;
  amount: string;
  processedAt: string;
  updatedAt: string;
}

export interface RefundRecord {
  type: 'refund';
  id: number;
  paymentId: number;
  amount: string;
  refundedAt: string;
  updatedAt: string;
}

export interface CancellationRecord {
  type: 'cancellation';
  id: number;
  subscriptionId: number;
  detectedReason: Reason;
  /** Null if no offer was made. */
  offerType: OfferType | null;
  /** Null while the session is in progress. */
  outcome: SessionOutcome | null;
  createdAt: string;
  updatedAt: string;
}
