import {
  detectedReasons,
  discountTypes,
  failureKinds,
  offerTypes,
  paymentStatuses,
  planTypes,
  sessionOutcomes,
  subscriptionStatuses,
} from '../vocabulary.ts';

/** The type of a field, which determines how a file's values are parsed. */
export type Kind =
  | { readonly kind: 'id' | 'ids'; readonly of: string }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'text'; readonly maxLength: number; readonly mayBeEmpty: boolean }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | {
      readonly kind: 'time';
      /** Whether it may be the time of receipt, because a record with that keeps a stored time. */
      readonly mayBeGenerated?: true;
    }
  | { readonly kind: 'intervalUnit' | 'intervalCount' | 'amount' | 'decimal' | 'boolean' | 'code' };

export type Field = Kind & { readonly required: boolean };

const required = <K extends Kind>(kind: K) => ({ ...kind, required: true }) as const;
const optional = <K extends Kind>(kind: K) => ({ ...kind, required: false }) as const;

const id = (of: string): Kind => ({ kind: 'id', of });
const text = (maxLength = 1000): Kind => ({ kind: 'text', maxLength, mayBeEmpty: false });
const anyText: Kind = { kind: 'text', maxLength: 1000, mayBeEmpty: true };
const oneOf = (values: readonly string[]): Kind => ({ kind: 'enum', values });
const integer = (min: number, max: number): Kind => ({ kind: 'integer', min, max });
const amount: Kind = { kind: 'amount' };
const time: Kind = { kind: 'time' };

export type Fields = Readonly<Record<string, Field>>;

/** The fields that a mapping can fill, by record type; a dot leads into `pricing`. */
export const fieldsOf = {
  plan: {
    id: required(id('plan')),
    name: required(text()),
    groupName: optional(anyText),
    planType: required(oneOf(planTypes)),
    intervalUnit: required({ kind: 'intervalUnit' }),
    intervalCount: required({ kind: 'intervalCount' }),
    active: optional({ kind: 'boolean' }),
    productIds: optional({ kind: 'ids', of: 'product' }),
    productCount: optional(integer(0, 100_000)),
    'pricing.discountType': optional(oneOf(discountTypes)),
    'pricing.discountValue': optional({ kind: 'decimal' }),
    'pricing.summary': optional(anyText),
    updatedAt: optional(time),
  },
  subscription: {
    id: required(id('subscription')),
    customerId: required(id('customer')),
    planId: required(id('plan')),
    status: required(oneOf(subscriptionStatuses)),
    createdAt: required(time),
    nextBillingDate: optional(time),
    paidThroughAt: optional(time),
    intervalUnit: optional({ kind: 'intervalUnit' }),
    intervalCount: optional({ kind: 'intervalCount' }),
    updatedAt: optional(time),
  },
  payment: {
    id: required(id('payment')),
    subscriptionId: required(id('subscription')),
    cycle: required(text(200)),
    status: required(oneOf(paymentStatuses)),
    failureKind: optional(oneOf(failureKinds)),
    failureCode: optional({ kind: 'code' }),
    amount: required(amount),
    processedAt: required(time),
    updatedAt: optional(time),
  },
  refund: {
    id: required(id('refund')),
    paymentId: required(id('payment')),
    amount: required(amount),
    refundedAt: required(time),
    updatedAt: optional(time),
  },
  cancellation: {
    id: required(id('cancellation')),
    subscriptionId: optional(id('subscription')),
    detectedReason: required(oneOf(detectedReasons)),
    offerType: optional(oneOf(offerTypes)),
    outcome: optional(oneOf(sessionOutcomes)),
    createdAt: required({ kind: 'time', mayBeGenerated: true }),
    updatedAt: optional(time),
  },
} as const satisfies Readonly<Record<string, Fields>>;

export type MappedType = keyof typeof fieldsOf;

/** A line of a subscription. Without a `lineId`, it is numbered by its position. */
export const lineFields: Fields = {
  lineId: optional(id('line')),
  productId: required(id('product')),
  productTitle: required(anyText),
  variantId: required(id('variant')),
  variantTitle: optional(anyText),
  quantity: required(integer(1, 1_000_000)),
  currentPrice: required(amount),
};

/** A status change of a subscription; omitted if its time is empty. */
export const statusEventFields = {
  at: optional(time),
  to: required(oneOf(subscriptionStatuses)),
  /** The status until a scheduled change. */
  until: optional(oneOf(subscriptionStatuses)),
} as const satisfies Fields;

/** When an export was made. */
export const exportDateField = optional(time);

/** Billing intervals by the names that platforms use. */
export const intervalWords: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['daily', [1, 'day']],
  ['weekly', [1, 'week']],
  ['monthly', [1, 'month']],
  ['quarterly', [3, 'month']],
  ['annual', [1, 'year']],
  ['annually', [1, 'year']],
  ['yearly', [1, 'year']],
]);
