import { type JsonObject, isObject } from '../../json.ts';
import { jsonValues } from '../../mapping/rows.ts';
import type { RecordType } from '../../records/records.ts';

/** A list of an account that records are made from. */
export interface Stream {
  readonly name: 'subscriptions' | 'invoices' | 'refunds' | 'disputes';
  readonly types: readonly RecordType[];
  /** How often all of it is read. */
  readonly wholeDays: number;
  readonly params: object;
  /** What each object is to have instead of an id. */
  readonly expand: readonly string[];
  /** What its objects belong to; those of something that is not stored are left out. */
  readonly parent?: {
    readonly kind: 'subscription' | 'payment';
    /** Stripe's id of it. */
    idOf(object: JsonObject): unknown;
  };
}

const ofPayments = {
  types: ['refund'],
  wholeDays: 7,
  params: {},
  expand: [],
  parent: { kind: 'payment', idOf: ({ payment_intent: intent }) => intent },
} as const satisfies Omit<Stream, 'name'>;

/** In the order in which records refer to each other. */
export const streams: readonly Stream[] = [
  {
    name: 'subscriptions',
    types: ['plan', 'subscription'],
    wholeDays: 1,
    params: { status: 'all' },
    expand: [
      'customer.discount',
      'discounts.source.coupon',
      'items.data.discounts',
      'latest_invoice',
    ],
  },
  {
    name: 'invoices',
    types: ['payment'],
    wholeDays: 7,
    params: {},
    // What their lines cost says what subscriptions were worth.
    expand: ['payments', 'discounts.source.coupon', 'lines.data.discounts'],
    parent: {
      kind: 'subscription',
      idOf: (invoice) => jsonValues(invoice).get('parent.subscription_details.subscription'),
    },
  },
  { name: 'refunds', ...ofPayments },
  // A lost one takes the money back.
  { name: 'disputes', ...ofPayments },
];

/** Makes no records itself: events tell what to read again. */
export const events = { name: 'events', types: [] } as const;

/** @param before the path of the objects in an answer */
export function expansionsOf({ expand }: Stream, seesCustomers: boolean, before = '') {
  return expand
    .filter((path) => seesCustomers || !path.startsWith('customer'))
    .map((path) => before + path);
}

/** Of the events that may change a record, or what it refers to; Stripe lists at most 20 types. */
export const eventTypes: readonly string[] = Object.entries({
  'customer.subscription': 'created updated deleted paused resumed',
  'customer.discount': 'created updated deleted',
  invoice: 'paid payment_failed voided marked_uncollectible',
  refund: 'created updated failed',
  'charge.dispute': 'closed funds_withdrawn funds_reinstated',
  price: 'updated',
  product: 'updated',
}).flatMap(([what, changes]) => changes.split(' ').map((change) => `${what}.${change}`));

export const isOfCatalogue = ({ type }: JsonObject) => /^(?:price|product)\./.test(String(type));

/** What an update of a subscription must have changed to date what is read because of it. */
const datedChanges = ['status', 'pause_collection', 'items', 'discounts'];

/**
 * What an event says has changed: an object of a stream; and when, in seconds, if a subscription's status or value may
 * have changed then.
 */
export function readHint(event: unknown) {
  const { get } = jsonValues(event);
  if (!isObject(event) || !eventTypes.includes(String(event['type']))) return undefined;
  const isDiscount = get('data.object.object') === 'discount';
  const kind = isDiscount ? 'subscriptions' : `${String(get('data.object.object'))}s`;
  const id = get(`data.object.${isDiscount ? 'subscription' : 'id'}`);
  if (!streams.some(({ name }) => name === kind) || !isId(id) || !isId(event['id'])) {
    return undefined;
  }
  const previous = get('data.previous_attributes');
  const isDated =
    kind === 'subscriptions' &&
    (!isObject(previous) || datedChanges.some((each) => each in previous));
  return { kind, id, event: event['id'], ...(isDated && { at: Number(event['created']) }) };
}

/** It becomes a part of an address. */
const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^\w{1,255}$/.test(value);
