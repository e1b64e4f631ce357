import { clockDifference } from './times.ts';

/** Import records as sources write them: ISO 8601 times, amounts as decimal strings or numbers. */

export type Status = 'active' | 'paused' | 'cancelled' | 'expired' | 'failed';
export type Outcome = 'saved' | 'cancelled' | 'abandoned';
export type Unit = 'day' | 'week' | 'month' | 'year';
type Amount = string | number;

export interface Plan {
  readonly type: 'plan';
  readonly id: number;
  readonly name: string;
  readonly groupName?: string;
  readonly planType: string;
  readonly intervalUnit: Unit;
  readonly intervalCount: number;
  readonly active?: boolean;
  readonly productIds?: readonly number[];
  readonly pricing?: {
    readonly discountType: string;
    readonly discountValue: Amount;
    readonly summary: string;
  };
  readonly updatedAt?: string;
}

export interface Line {
  readonly lineId: number;
  readonly productId: number;
  readonly productTitle: string;
  readonly variantId: number;
  readonly variantTitle?: string;
  readonly quantity: number;
  readonly currentPrice: Amount;
  readonly intervalUnit?: Unit;
  readonly intervalCount?: number;
}

export interface Subscription {
  readonly type: 'subscription';
  readonly id: number;
  readonly customerId: number;
  readonly planId: number;
  readonly status: Status;
  readonly createdAt: string;
  readonly updatedAt?: string;
  readonly nextBillingDate?: string;
  readonly paidThroughAt?: string;
  readonly trialEndsAt?: string;
  /** The last one may have no date. */
  readonly statusEvents?: readonly { readonly at: string | null; readonly to: Status }[];
  readonly intervalUnit?: Unit;
  readonly intervalCount?: number;
  readonly lines: readonly Line[];
}

export interface Payment {
  readonly type: 'payment';
  readonly id: number;
  readonly subscriptionId: number;
  readonly cycle: string | number;
  readonly status: 'succeeded' | 'failed' | 'pending';
  readonly failureKind?: 'payment' | 'inventory';
  readonly amount: Amount;
  readonly processedAt: string;
  readonly updatedAt?: string;
}

export interface Refund {
  readonly type: 'refund';
  readonly id: number;
  readonly paymentId: number;
  readonly amount: Amount;
  readonly refundedAt: string;
  readonly updatedAt?: string;
}

export interface Session {
  readonly type: 'cancellation';
  readonly id: number;
  readonly subscriptionId?: number;
  readonly detectedReason: string;
  readonly offerType?: string;
  readonly outcome?: Outcome;
  readonly createdAt: string;
  readonly updatedAt?: string;
}

export type Upsert = Plan | Subscription | Payment | Refund | Session;

export interface Deletion {
  readonly type: 'delete';
  readonly record: Upsert['type'];
  readonly id: number;
}

export type WorldRecord = Upsert | Deletion;

/** The type of the written or deleted record. */
export function targetType(record: WorldRecord): Upsert['type'] {
  return record.type === 'delete' ? record.record : record.type;
}

export function keyOf(record: WorldRecord): string {
  return `${targetType(record)} ${record.id}`;
}

/** The key of the record that must exist before this one is accepted. */
export function parentKeyOf(record: WorldRecord): string | undefined {
  switch (record.type) {
    case 'subscription':
      return `plan ${record.planId}`;
    case 'payment':
      return `subscription ${record.subscriptionId}`;
    case 'refund':
      return `payment ${record.paymentId}`;
    case 'cancellation':
      return record.subscriptionId === undefined
        ? undefined
        : `subscription ${record.subscriptionId}`;
    default:
      return undefined;
  }
}

/** Whether a record is dated in the future by more than the tolerated clock skew. */
export function liesAhead(record: WorldRecord, now: number): boolean {
  if (record.type === 'delete') return false;
  const times: (string | null | undefined)[] = [record.updatedAt];
  if ('createdAt' in record) times.push(record.createdAt);
  if (record.type === 'subscription') {
    times.push(...(record.statusEvents ?? []).map(({ at }) => at));
  }
  if (record.type === 'payment') times.push(record.processedAt);
  if (record.type === 'refund') times.push(record.refundedAt);
  return times.some((at) => at != null && Date.parse(at) > now + clockDifference);
}
