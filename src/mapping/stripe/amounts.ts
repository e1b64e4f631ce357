import { type JsonObject, isObject } from '../../json.ts';
import {
  type Ratio,
  add,
  decimalText,
  minorDigitsOf,
  multiply,
  parseDecimal,
  priceDecimals,
  zero,
} from '../../money.ts';
import { intervalUnits } from '../../vocabulary.ts';

/** An amount in major units, or why it is not understood. */
export type Amount = Ratio | { readonly unknown: Unknown };

/** What is not understood of a price, as the end of a sentence about a price. */
export const unknowns = {
  amount: 'has no amount',
  quantity: 'has a quantity that is no whole number of 0 or more',
  interval: `has an interval other than ${intervalUnits.join(', ')}`,
  tier: 'has no tier for its quantity',
  tiers: 'has tiers that are not in the data (expand items.data.price.tiers)',
  currency: "has no amount in the subscription's currency (expand price.currency_options)",
  discount: 'has a discount that is not in the data (expand discounts.source.coupon)',
  coupon: "has a discount with no percentage, and no amount in the subscription's currency",
  shared: 'shares a discount with a price that is not known',
} as const;
export type Unknown = keyof typeof unknowns;

export function isKnown(amount: Amount): amount is Ratio {
  return 'numerator' in amount;
}

/** Where Stripe's smallest unit is not that of ISO 4217 (docs.stripe.com/currencies). */
const otherDigits: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** The decimals of the amounts that Stripe writes in a currency. */
export function stripeDigitsOf(currency: string): number {
  return otherDigits[currency] ?? minorDigitsOf(currency) ?? 2;
}

export const integer = (value: number): Ratio => ({ numerator: BigInt(value), denominator: 1n });

export function divide(a: Ratio, b: Ratio): Ratio {
  return multiply(a, { numerator: b.denominator, denominator: b.numerator });
}

/** A value with as many decimals as a line's price may have, half rounded up; 0 if it is below 0. */
export function decimal12({ numerator, denominator }: Ratio): string {
  if (numerator <= 0n) return '0';
  const scaled = 2n * numerator * 10n ** BigInt(priceDecimals) + denominator;
  return decimalText(scaled / (2n * denominator), priceDecimals);
}

/** A whole number of the data. */
export function readCount(value: unknown, otherwise: number): number {
  const count = Number(value ?? otherwise);
  return Number.isSafeInteger(count) && count >= 0 ? count : otherwise;
}

/** A number of the data, exactly; undefined if it is none, or below 0. */
export function readNumber(value: unknown): Ratio | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^\d{1,18}(\.\d{1,18})?$/.test(text) ? parseDecimal(text) : undefined;
}

/** `unit_amount_decimal` or `unit_amount`, in the smallest unit. */
function readAmount(object: JsonObject, name: string): Ratio | undefined {
  return readNumber(object[`${name}_decimal`] ?? object[name]);
}

/** A price before discounts, in units of the currency. */
export function costOf(price: JsonObject, quantity: number, currency: string): Amount {
  const amounts = inCurrency(price, currency);
  if (!amounts) return { unknown: 'currency' };
  const isTiered = price['billing_scheme'] === 'tiered' || typeof price['tiers_mode'] === 'string';
  const minor = isTiered
    ? costOfTiers(amounts['tiers'], price['tiers_mode'], quantity)
    : costOfUnits(amounts, packsOf(quantity, price['transform_quantity']));
  return isKnown(minor) ? inUnits(minor, currency) : minor;
}

/** The part of a price or coupon that has its amounts in a currency, if the data has it. */
export function inCurrency(object: JsonObject, currency: string): JsonObject | undefined {
  const { currency: own = currency, currency_options: options } = object;
  if (String(own).toUpperCase() === currency) return object;
  const other = isObject(options) ? options[currency.toLowerCase()] : undefined;
  return isObject(other) ? other : undefined;
}

/** An amount in units, in the smallest unit. */
export function inMinorUnits(amount: Ratio | undefined, currency: string): string | undefined {
  return amount && decimal12(multiply(amount, integer(10 ** stripeDigitsOf(currency))));
}

/** An amount in the smallest unit, in units. */
export function inUnits(minor: Ratio, currency: string): Ratio {
  return divide(minor, integer(10 ** stripeDigitsOf(currency)));
}

function costOfUnits(amounts: JsonObject, units: number): Amount {
  const each = readAmount(amounts, 'unit_amount');
  return each ? multiply(each, integer(units)) : { unknown: 'amount' };
}

/** How many packs are paid for, where units are sold in packs. */
function packsOf(quantity: number, transform: unknown): number {
  if (!isObject(transform)) return quantity;
  const packs = quantity / Math.max(1, readCount(transform['divide_by'], 1));
  return transform['round'] === 'up' ? Math.ceil(packs) : Math.floor(packs);
}

/** In volume pricing the tier of the whole quantity counts; in graduated pricing each for its part. */
function costOfTiers(tiers: unknown, mode: unknown, quantity: number): Amount {
  if (!Array.isArray(tiers) || tiers.length === 0) return { unknown: 'tiers' };
  let total = zero;
  let from = 0;
  for (const tier of tiers) {
    if (!isObject(tier)) return { unknown: 'tiers' };
    // The last has none, or as it is written when a price is made, "inf".
    const upTo = readCount(tier['up_to'], Infinity);
    const isLast = quantity <= upTo;
    const units = mode === 'volume' ? quantity : Math.min(quantity, upTo) - from;
    const [each, flat] = [readAmount(tier, 'unit_amount'), readAmount(tier, 'flat_amount')];
    if (!each && !flat) return { unknown: 'amount' };
    if (mode !== 'volume' || isLast) {
      total = add(total, add(multiply(each ?? zero, integer(units)), flat ?? zero));
    }
    if (isLast) return total;
    from = upTo;
  }
  return { unknown: 'tier' };
}
