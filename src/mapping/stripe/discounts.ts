import { addInterval } from '../../intervals.ts';
import { type JsonObject, isObject } from '../../json.ts';
import { type Ratio, add, multiply, parseDecimal, subtract, zero } from '../../money.ts';
import {
  type Amount,
  type Unknown,
  decimal12,
  divide,
  inCurrency,
  inUnits,
  integer,
  isKnown,
  readNumber,
} from './amounts.ts';

/** A discount that goes on. */
interface Discount {
  readonly off:
    | { readonly kept: Ratio }
    | { readonly amount: Ratio }
    | { readonly unknown: Unknown };
  /** The products that it is for; undefined if for all. */
  readonly products: readonly unknown[] | undefined;
}

const maxDiscounts = 100;

/** The id of something that the data has whole, or as an id. */
export const idOf = (value: unknown) => (isObject(value) ? value['id'] : value);

/** What discounts are read with. */
interface Context {
  /** Of the subscription. */
  readonly currency: string;
  /** The time of the data, in epoch seconds. */
  readonly at: number;
}

/** An item of a subscription, with what is paid for it in a cycle. */
export interface Item {
  amount: Amount;
  readonly product: unknown;
  /** The length of its cycle, in any unit. */
  readonly cycle: number;
}

/**
 * The discounts of a subscription or an item that go on, in the order in which they apply.
 * @param owner has a list of discounts, or before version 2025-03-31 also one in `discount`
 */
export function discountsOf({ discount, discounts }: JsonObject, context: Context): Discount[] {
  // Stripe allows 20; of a longer list each is unknown.
  const given: readonly unknown[] = Array.isArray(discounts) ? discounts : [];
  const list = given.length > maxDiscounts ? [undefined] : given;
  const isListed = list.some((each) => idOf(each) === idOf(discount));
  const all = isListed || !discount ? list : [discount, ...list];
  return all.flatMap((each) =>
    readDiscount(isListed && idOf(each) === idOf(discount) ? discount : each, context),
  );
}

function readDiscount(discount: unknown, { currency, at }: Context): Discount[] {
  const isMissing: Discount = { off: { unknown: 'discount' }, products: undefined };
  if (!isObject(discount)) return [isMissing];
  const { end, start, source, coupon = isObject(source) ? source['coupon'] : undefined } = discount;
  const ends = Number(end ?? endOf(Number(start), coupon));
  if (ends <= at || Number(start) > at || discount['deleted'] === true) return [];
  if (!isObject(coupon)) return [isMissing];
  if (coupon['duration'] === 'once') return [];
  const { applies_to: appliesTo } = coupon;
  const products = isObject(appliesTo) ? appliesTo['products'] : undefined;
  return [
    { off: readOff(coupon, currency), products: Array.isArray(products) ? products : undefined },
  ];
}

/** When a discount for some months ends, if it does not say so itself. */
function endOf(start: number, coupon: unknown): number {
  const months = isObject(coupon) ? Number(coupon['duration_in_months'] ?? Infinity) : Infinity;
  const end = addInterval(start * 1000, 'month', months) / 1000;
  return Number.isNaN(end) ? Infinity : end;
}

function readOff(coupon: JsonObject, currency: string): Discount['off'] {
  const percent = readNumber(coupon['percent_off']);
  if (percent) return { kept: subtract(integer(1), divide(percent, integer(100))) };
  const minor = readNumber(inCurrency(coupon, currency)?.['amount_off']);
  return minor ? { amount: inUnits(minor, currency) } : { unknown: 'coupon' };
}

/**
 * Takes a discount off the items that it is for. An amount comes off each invoice once, so off the items with the
 * shortest cycle, in proportion to their prices.
 */
export function applyDiscount({ off, products }: Discount, items: readonly Item[]): void {
  const isFor = ({ amount, product }: Item) =>
    (!isKnown(amount) || amount.numerator > 0n) && (!products || products.includes(product));
  const meant = items.filter(isFor);
  const change = (to: (amount: Ratio) => Amount) => {
    for (const item of meant) if (isKnown(item.amount)) item.amount = to(item.amount);
  };
  if ('unknown' in off) return change(() => off);
  if ('kept' in off) return change((amount) => multiply(amount, off.kept));
  if (meant.some(({ amount }) => !isKnown(amount))) return change(() => ({ unknown: 'shared' }));
  const shortest = Math.min(...meant.map(({ cycle }) => cycle));
  share(
    off.amount,
    meant.filter(({ cycle }) => cycle === shortest),
  );
}

/** Shares are rounded so that their sum is the amount. */
function share(amount: Ratio, items: readonly Item[]): void {
  const prices = items.map((item) => (isKnown(item.amount) ? item.amount : zero));
  const total = prices.reduce(add, zero);
  let [before, taken] = [zero, zero];
  for (const [index, item] of items.entries()) {
    before = add(before, prices[index] as Ratio);
    const isAll = subtract(amount, total).numerator >= 0n;
    const until = isAll ? before : parseDecimal(decimal12(divide(multiply(amount, before), total)));
    item.amount = subtract(prices[index] as Ratio, subtract(until, taken));
    taken = until;
  }
}
