import { type JsonObject, isObject } from '../../json.ts';
import { jsonValues } from '../../mapping/rows.ts';
import type { RecordType } from '../../records/records.ts';
import type { Hint } from '../platform.ts';

/** Lists of an account that a shop's records are made from, in the order in which records refer to each other. */
export interface Stream {
  readonly name: 'subscriptions' | 'invoices' | 'refunds' | 'disputes';
  readonly types: readonly RecordType[];
  /** How often all of it is read. */
  readonly wholeSeconds: number;
  /** Besides how many. */
  readonly params: object;
  /** What is to be in each object instead of its id, and the optional permission that this needs. */
  readonly expand: readonly (readonly [path: string, permission?: Optional])[];
  /** What its objects belong to; those of something that is not stored are left out. */
  readonly parent?: {
    readonly kind: 'subscription' | 'payment';
    /** Stripe's id of it. */
    idOf(object: JsonObject): unknown;
  };
}

/** What a key may read beside what is needed. */
export const optionals = ['customers', 'paymentIntents'] as const;
export type Optional = (typeof optionals)[number];

/** What a key must be able to read; what Stripe shows of an account differs by key. */
export const needed = [
  'account',
  'subscriptions',
  'invoices',
  'refunds',
  'disputes',
  'events',
  'prices',
  'products',
  'coupons',
] as const;

export const daySeconds = 86_400;
const ofPayments = {
  kind: 'payment',
  idOf: ({ payment_intent: intent }: JsonObject) => intent,
} as const;

export const streams: readonly Stream[] = [
  {
    name: 'subscriptions',
    types: ['plan', 'subscription'],
    wholeSeconds: daySeconds,
    params: { status: 'all' },
    expand: [
      ['customer.discount', 'customers'],
      ['discounts.source.coupon'],
      ['items.data.discounts'],
      ['items.data.price.tiers'],
      ['items.data.price.currency_options'],
      ['items.data.price.product'],
    ],
  },
  {
    name: 'invoices',
    types: ['payment'],
    wholeSeconds: 7 * daySeconds,
    params: {},
    expand: [['payments'], ['payments.data.payment.payment_intent', 'paymentIntents']],
    parent: {
      kind: 'subscription',
      idOf: (invoice) => jsonValues(invoice).get('parent.subscription_details.subscription'),
    },
  },
  {
    name: 'refunds',
    types: ['refund'],
    wholeSeconds: 7 * daySeconds,
    params: {},
    expand: [],
    parent: ofPayments,
  },
  {
    name: 'disputes',
    types: ['refund'],
    wholeSeconds: 7 * daySeconds,
    params: {},
    expand: [],
    parent: ofPayments,
  },
];

/** Stripe expands no deeper. */
const maxLevels = 4;

/** @param before the path of the objects in an answer */
export function expansionsOf(
  { expand }: Stream,
  may: readonly string[],
  before = '',
): readonly string[] {
  return expand
    .filter(([, permission]) => permission === undefined || may.includes(permission))
    .map(([path]) => before + path)
    .filter((path) => path.split('.').length <= maxLevels);
}

/** The events that may change a record; Stripe lists at most 20 types. */
export const eventTypes: readonly string[] = [
  ...['created', 'updated', 'deleted', 'paused', 'resumed'].map(
    (each) => `customer.subscription.${each}`,
  ),
  ...['created', 'updated', 'deleted'].map((each) => `customer.discount.${each}`),
  ...['paid', 'payment_failed', 'voided', 'marked_uncollectible'].map((each) => `invoice.${each}`),
  ...['created', 'updated', 'failed'].map((each) => `refund.${each}`),
  ...['closed', 'funds_withdrawn', 'funds_reinstated'].map((each) => `charge.dispute.${each}`),
];

/** The streams of the objects that events have. */
const streamsOfObjects: Readonly<Record<string, Stream['name']>> = {
  subscription: 'subscriptions',
  invoice: 'invoices',
  refund: 'refunds',
  dispute: 'disputes',
};

/** What an event says has changed: an object of a stream, which is read again. */
export function readHint(event: unknown): (Hint & { readonly event: string }) | undefined {
  if (!isObject(event) || !eventTypes.includes(String(event['type']))) return undefined;
  const { data } = event;
  const object = isObject(data) && isObject(data['object']) ? data['object'] : {};
  const isDiscount = object['object'] === 'discount';
  const kind = streamsOfObjects[isDiscount ? 'subscription' : String(object['object'])];
  const id = isDiscount ? object['subscription'] : object['id'];
  return kind === undefined || !isId(id) || !isId(event['id'])
    ? undefined
    : { kind, id, event: event['id'] };
}

/** It becomes a part of an address. */
const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^\w{1,255}$/.test(value);

/** The currency of an object, in capitals; undefined if it has none. */
export function currencyOf({ currency }: JsonObject): string | undefined {
  return typeof currency === 'string' ? currency.toUpperCase() : undefined;
}
