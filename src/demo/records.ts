import type { RecordInput } from '../records/records.ts';

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

/** What every record of the demo shop has, although it need not. */
interface Dated {
  updatedAt: string;
}

/** The value of a discount is a number for percentage and none, and a decimal string for money. */
export type PlanRecord = RecordInput<'plan'> & Dated & { productIds: number[] };
export type SubscriptionRecord = RecordInput<'subscription'> & Dated & { lines: LineRecord[] };
export type LineRecord = RecordInput<'subscription'>['lines'][number] & { currentPrice: string };
export type PaymentRecord = RecordInput<'payment'> & Dated & { cycle: string; amount: string };
export type RefundRecord = RecordInput<'refund'> & Dated & { amount: string };
export type CancellationRecord = RecordInput<'cancellation'> & Dated & { subscriptionId: number };
