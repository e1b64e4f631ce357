import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { type Ratio, add, multiply, zero } from '../../money.ts';
import { monthlyFactor } from '../../mrr.ts';
import { isOpaqueId } from '../../ingest/source-ids.ts';
import { records } from '../../records/records.ts';
import { type IntervalUnit, intervalUnits } from '../../vocabulary.ts';
import {
  type Amount,
  costOf,
  decimal12,
  divide,
  integer,
  isKnown,
  readCount,
  readNumber,
  unknowns,
} from './amounts.ts';
import { type Item, applyDiscount, discountsOf, idOf } from './discounts.ts';

/** What a mapping reads of a subscription beside the object itself. */
interface Priced {
  /** The price of the first item whose interval is known. */
  readonly plan: JsonObject;
  /** When the first and the last of the items' periods end. */
  readonly next_period_end: number | undefined;
  readonly last_period_end: number | undefined;
  /** When they began, if all end together. */
  readonly period_start: number | undefined;
  readonly trial_end: unknown;
}

interface Context {
  /** Of the shop. */
  readonly currency: string;
  /** The time of the data, in epoch seconds. */
  readonly at: number;
}

/** Stands for a price that the data does not have. */
const unknownPrice = {
  id: 'unknown',
  nickname: 'Unknown price',
  recurring: { interval: 'month', interval_count: 1 },
};
const { max: maxItems, fields: lineFields } = records.subscription.fields.lines;
const maxQuantity = lineFields.quantity.max;

/**
 * Prices a subscription's items: what each costs a cycle, before tax, after the discounts that go on.
 * @returns the subscription, its items with a `unit_price`, and `preserve` where the data does not say it, and
 * whether it has more items than the data
 */
export function priceSubscription(subscription: JsonObject, context: Context) {
  const listed = listedIn(subscription);
  // Too many for a record, which is refused.
  if (listed.length > maxItems) return { subscription, problems: [], isPartial: false };
  const items = itemsOf(listed, subscription);
  const { price: plan = unknownPrice } = items.find(({ price }) => intervalOf(price)) ?? {};
  const priced = [subscription, ...items.map(({ price }) => price)].find(
    (each) => each['currency'],
  );
  const currency = String(priced?.['currency'] ?? context.currency).toUpperCase();
  // What has ended was worth what it cost until then.
  const { status, ended_at: ended } = subscription;
  const time = { currency, at: status === 'canceled' && ended ? Number(ended) : context.at };
  const costs = items.map(({ price, ...item }): Item => {
    const amount = isMetered(price) ? zero : costOfItem(price, item, currency);
    const cost = { amount, cycle: cycleOf(price), product: idOf(price['product']) };
    for (const discount of discountsOf(item, time)) applyDiscount(discount, [cost]);
    return cost;
  });
  for (const discount of subscriptionDiscounts(subscription, time)) applyDiscount(discount, costs);

  const problems: string[] = [];
  const isForeign = currency !== context.currency;
  if (isForeign)
    problems.push(`is in ${currency}, not in ${context.currency}, so it is priced at 0`);
  const isSilent = lacksDiscounts(subscription, items);
  if (isSilent)
    problems.push('its discounts are not in the data; stored prices stay, new ones are without');
  const lines = items.map((item, index) => {
    const { price } = item;
    const { amount } = costs[index] as Item;
    const isUnknown = !isKnown(amount);
    const net = isUnknown || isForeign ? zero : withoutTax(amount, item, subscription);
    const name = nameOf('plan', 'price', price['id']);
    if (isUnknown && !isForeign) {
      problems.push(`${name} ${unknowns[amount.unknown]}; a stored price stays, a new one is 0`);
    }
    if (net === undefined) problems.push(`${name} includes tax that is not in the data; it counts`);
    const total = net ?? (amount as Ratio);
    const units = isMetered(price) ? 1 : Math.max(1, unitsOf(item));
    const quantity = units > maxQuantity ? 1 : units;
    const isKept = !isForeign && (isUnknown || (isSilent && total.numerator > 0n));
    return {
      ...item,
      quantity,
      unit_price: decimal12(divide(total, integer(quantity))),
      ...(isKept && { preserve: 'price' }),
      ...(intervalOf(price) && cycleOf(price) !== cycleOf(plan) && { own: recurringOf(price) }),
    };
  });
  const { items: list } = subscription;
  const isPartial = isObject(list) && list['has_more'] === true;
  if (isPartial) problems.push('not all items are in the data; stored ones stay');
  const timesIn = (name: string) =>
    [subscription, ...items].flatMap((each: JsonObject) => Number(each[name]) || []);
  const ends = timesIn('current_period_end');
  const [next, last] = ends.length === 0 ? [] : [Math.min(...ends), Math.max(...ends)];
  const added: Priced = {
    plan,
    // With flexible billing, `cancel_at` alone says that a subscription ends with its period.
    next_period_end:
      Number(subscription['cancel_at'] || Infinity) <= Number(next) ? undefined : next,
    last_period_end: last,
    period_start: next === last ? timesIn('current_period_start').at(-1) : undefined,
    trial_end: trialEndOf(subscription, context.at),
  };
  const name = nameOf('subscription', 'subscription', subscription['id']);
  return {
    subscription: { ...subscription, items: { data: lines }, priced: added },
    problems: problems.map((each) => `${name}: ${each}`),
    isPartial,
  };
}

interface PricedItem extends JsonObject {
  readonly price: JsonObject;
}

export const listedIn = ({ items }: JsonObject) =>
  objectsIn(isObject(items) ? items['data'] : items);

/** The items; old versions have their plan in the subscription itself. */
function itemsOf(
  items: readonly JsonObject[],
  { plan, quantity }: JsonObject,
): readonly PricedItem[] {
  return (items.length > 0 ? items : [{ plan, quantity }]).map((item) => ({
    ...item,
    price: priceOf(item),
  }));
}

/** An item's price, or its plan in the same form. */
function priceOf({ price, plan }: JsonObject): JsonObject {
  if (isObject(price)) return price;
  if (!isObject(plan)) return { ...unknownPrice, ...idIn(price ?? plan), recurring: undefined };
  return {
    ...plan,
    unit_amount: plan['amount'],
    unit_amount_decimal: plan['amount_decimal'],
    transform_quantity: plan['transform_usage'],
    recurring: {
      interval: plan['interval'],
      interval_count: plan['interval_count'],
      usage_type: plan['usage_type'],
    },
  };
}

const idIn = (id: unknown) => typeof id === 'string' && { id, nickname: undefined };

/** For a message, with its id unless that may be something else. */
function nameOf(kind: string, what: string, id: unknown): string {
  return isOpaqueId(kind, String(id)) ? `${what} "${String(id)}"` : `a ${what}`;
}

export function recurringOf({ recurring }: JsonObject): JsonObject {
  return isObject(recurring) ? recurring : {};
}

export function isMetered(price: JsonObject): boolean {
  return recurringOf(price)['usage_type'] === 'metered';
}

function intervalOf(price: JsonObject): IntervalUnit | undefined {
  return intervalUnits.find((unit) => unit === recurringOf(price)['interval']);
}

/** What all units cost a cycle, if it makes sense how many there are and how often they are billed. */
function costOfItem(price: JsonObject, { quantity }: JsonObject, currency: string): Amount {
  const { interval } = recurringOf(price);
  if (interval && !intervalOf(price)) return { unknown: 'interval' };
  const units = readCount(quantity ?? 1, -1);
  return units < 0 ? { unknown: 'quantity' } : costOf(price, units, currency);
}

/** How long a cycle is, to compare it with others. */
function cycleOf(price: JsonObject): number {
  const count = Math.max(1, readCount(recurringOf(price)['interval_count'], 1));
  const factor = monthlyFactor(intervalOf(price) ?? 'month', count);
  return Number(factor.denominator) / Number(factor.numerator);
}

const unitsOf = ({ quantity }: JsonObject) => readCount(quantity, 1);

/** The subscription's own discounts, else its customer's, if the data has the customer. */
function subscriptionDiscounts(subscription: JsonObject, time: Context) {
  const own = discountsOf(subscription, time);
  const { customer } = subscription;
  if (own.length > 0 || !isObject(customer)) return own;
  return discountsOf({ discount: customer['discount'] }, time);
}

/** Since version 2025-03-31 `discounts` has them, which tables that others made of the objects may not have. */
function lacksDiscounts(subscription: JsonObject, items: readonly PricedItem[]): boolean {
  if (subscription['lacks_discounts'] === true) return true;
  return (
    subscription['discounts'] === undefined &&
    !subscription['discount'] &&
    items.some((item) => item['current_period_end'])
  );
}

/** What is left of a price once the tax in it is taken out; undefined if the data does not say the tax. */
function withoutTax(amount: Ratio, item: PricedItem, subscription: JsonObject): Ratio | undefined {
  const rates = [item['tax_rates'], subscription['default_tax_rates']].find(
    (list) => Array.isArray(list) && list.length > 0,
  ) as readonly unknown[] | undefined;
  const inclusive = (rates ?? []).filter((rate) => isObject(rate) && rate['inclusive'] === true);
  const shares = inclusive.map((rate) => readNumber((rate as JsonObject)['percentage']));
  const { automatic_tax: automatic } = subscription;
  const isAutomatic = isObject(automatic) && automatic['enabled'] === true;
  const isInclusive = item.price['tax_behavior'] === 'inclusive';
  if (amount.numerator === 0n) return amount;
  if (shares.includes(undefined) || (isAutomatic && isInclusive && shares.length === 0)) {
    return undefined;
  }
  const hundred = integer(100);
  const withTax = shares.reduce<Ratio>((sum, share) => add(sum, share as Ratio), hundred);
  return divide(multiply(amount, hundred), withTax);
}

/** A trial that was given later and is over must not make a trial of what was paid for before it. */
function trialEndOf(subscription: JsonObject, at: number): unknown {
  const { trial_start: start, trial_end: end, start_date: begun, created } = subscription;
  const isLater = Number(start ?? 0) > Number(begun ?? created);
  return isLater && Number(end) <= at ? undefined : end;
}
