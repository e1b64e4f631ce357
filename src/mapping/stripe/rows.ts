import { type JsonObject, isObject, objectsIn, parseJson } from '../../json.ts';
import { type Values, jsonValues } from '../rows.ts';
import { idOf } from './discounts.ts';
import { sightingsIn, sightingsInInvoice } from './past.ts';
import { priceSubscription } from './subscription.ts';

interface Context {
  /** Of the shop. */
  readonly currency: string;
  /** When the data was read from Stripe, in epoch milliseconds. */
  readonly at: number;
}

/**
 * Prices Stripe's subscriptions: in objects, in events, and in rows of tables that programs made of the
 * objects, whose columns hold lists and objects as JSON.
 */
export function stripeValues(values: Values, { currency, at }: Context) {
  const row = withObjects(isObject(values.document) ? values.document : rowOf(values));
  const { created, data } = row;
  const isEvent = row['object'] === 'event' && isObject(data);
  const object = isEvent ? data['object'] : row;
  if (isObject(object) && object['object'] === 'invoice') {
    const invoice = withSubscription(withPaidFirst(object));
    return {
      values: jsonValues(
        isEvent ? { ...row, data: { ...data, object: invoice } } : invoice,
        values.line,
      ),
      ...(!isEvent && { seenValues: sightingsInInvoice(row, currency) }),
    };
  }
  // Recurly's are called the same, and have a `state`.
  const isSubscription = isObject(object) && object['object'] === 'subscription';
  if (!isSubscription || typeof object['status'] !== 'string') return { values };
  const seconds = isEvent ? Number(created) : at / 1000;
  const { subscription, ...rest } = priceSubscription(object, { currency, at: seconds });
  return {
    seenValues: sightingsIn(objectsIn(row['earlier']), currency),
    values: jsonValues(
      isEvent ? { ...row, data: { ...data, object: subscription } } : subscription,
      values.line,
    ),
    ...rest,
  };
}

const isPaid = ({ status }: JsonObject) => Number(status === 'paid');

/** An invoice whose payments include some that were given up: refunds name the one that was made. */
function withPaidFirst({ payments, ...invoice }: JsonObject): JsonObject {
  const data = objectsIn(isObject(payments) ? payments['data'] : undefined);
  return data.length < 2
    ? { ...invoice, payments }
    : { ...invoice, payments: { data: data.toSorted((a, b) => isPaid(b) - isPaid(a)) } };
}

/** With the id of its subscription, which has several places; why it was made, such as by hand, makes no difference. */
function withSubscription(invoice: JsonObject): JsonObject {
  const { get } = jsonValues(invoice);
  const subscription = get('parent.subscription_details.subscription') ?? get('subscription');
  return { ...invoice, billed_subscription: idOf(subscription) };
}

/** Prices another vendor's subscriptions, once they have the form of Stripe's, as `priced`. */
export function pricedLike(convert: (row: JsonObject, at: number) => JsonObject | undefined) {
  return (values: Values, { currency, at }: Context) => {
    const row = isObject(values.document) ? values.document : {};
    const given = convert(row, at / 1000);
    if (!given) return { values };
    const { subscription, problems } = priceSubscription(given, { currency, at: at / 1000 });
    const priced = { ...subscription, ...(subscription['priced'] as object) };
    return { values: jsonValues({ ...row, priced }, values.line), problems };
  };
}

const booleans = new Map([
  ['t', true],
  ['f', false],
  ['', null],
]);

/** The columns of a CSV file; PostgreSQL writes booleans as one letter. */
function rowOf(values: Values): JsonObject {
  const entries = (values.names ?? []).map((name) => {
    const value = values.get(name);
    const known = booleans.get(String(value ?? ''));
    return [name, known === undefined ? value : known] as const;
  });
  return Object.fromEntries(entries);
}

/** Parses columns of JSON; some tables have the whole object in one. */
function withObjects(row: JsonObject): JsonObject {
  const parsed = Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, parse(value)]),
  );
  const whole = parsed['_raw_data'] ?? parsed['raw_data'];
  return isObject(whole) ? whole : parsed;
}

function parse(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  return parseJson(value) ?? value;
}
