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

/** What a field holds, and so how a value of a foreign file is understood. */
export type Kind =
  | { readonly kind: 'id' | 'ids'; readonly of: string }
  | { readonly kind: 'integer'; readonly least: number; readonly most: number }
  | { readonly kind: 'text'; readonly most: number; readonly mayBeEmpty: boolean }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'intervalUnit' | 'intervalCount' | 'amount' | 'decimal' | 'time' | 'boolean' };

export type Field = Kind & { readonly required: boolean };

const required = <K extends Kind>(kind: K) => ({ ...kind, required: true }) as const;
const optional = <K extends Kind>(kind: K) => ({ ...kind, required: false }) as const;

const id = (of: string): Kind => ({ kind: 'id', of });
const text = (most = 1000): Kind => ({ kind: 'text', most, mayBeEmpty: false });
const anyText: Kind = { kind: 'text', most: 1000, mayBeEmpty: true };
const word = (words: readonly string[]): Kind => ({ kind: 'word', words });
const integer = (least: number, most: number): Kind => ({ kind: 'integer', least, most });
const amount: Kind = { kind: 'amount' };
const time: Kind = { kind: 'time' };

export type Fields = Readonly<Record<string, Field>>;

/** The fields of records that a mapping may make, by type; a dot leads into `pricing`. */
export const fieldsOf = {
  plan: {
    id: required(id('plan')),
    name: required(text()),
    groupName: optional(anyText),
    planType: required(word(planTypes)),
    intervalUnit: required({ kind: 'intervalUnit' }),
    intervalCount: required({ kind: 'intervalCount' }),
    active: optional({ kind: 'boolean' }),
    productIds: optional({ kind: 'ids', of: 'product' }),
    productCount: optional(integer(0, 100_000)),
    'pricing.discountType': optional(word(discountTypes)),
    'pricing.discountValue': optional({ kind: 'decimal' }),
    'pricing.summary': optional(anyText),
    updatedAt: optional(time),
  },
  subscription: {
    id: required(id('subscription')),
    customerId: required(id('customer')),
    planId: required(id('plan')),
    status: required(word(subscriptionStatuses)),
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
    status: required(word(paymentStatuses)),
    failureKind: optional(word(failureKinds)),
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
    detectedReason: required(word(detectedReasons)),
    offerType: optional(word(offerTypes)),
    outcome: optional(word(sessionOutcomes)),
    createdAt: required(time),
    updatedAt: optional(time),
  },
} as const satisfies Readonly<Record<string, Fields>>;

export type MappedType = keyof typeof fieldsOf;

/** A line of a subscription; without a `lineId` of its own it is numbered by its place. */
export const lineFields: Fields = {
  lineId: optional(id('line')),
  productId: required(id('product')),
  productTitle: required(anyText),
  variantId: required(id('variant')),
  variantTitle: optional(anyText),
  quantity: required(integer(1, 1_000_000)),
  currentPrice: required(amount),
};

/** A change of a subscription's status; left out where its time is empty. */
export const statusEventFields = {
  at: optional(time),
  to: required(word(subscriptionStatuses)),
  /** The status up to a change that is only booked. */
  until: optional(word(subscriptionStatuses)),
} as const satisfies Fields;

/** How long a billing period is, in words that platforms use for it. */
export const intervalWords: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['daily', [1, 'day']],
  ['weekly', [1, 'week']],
  ['monthly', [1, 'month']],
  ['quarterly', [3, 'month']],
  ['annual', [1, 'year']],
  ['annually', [1, 'year']],
  ['yearly', [1, 'year']],
]);
