import { type IntervalUnit, intervalUnits } from '../../../vocabulary.ts';
import { isObject } from '../../../json.ts';
import { shorten } from '../../../money.ts';
import { numberOf, parseGid } from '../api/ids.ts';

/**
 * Why a node is refused. The message repeats no value except enum-like words in capitals, because
 * any other value may be personal data.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** An object as Shopify's GraphQL API returns it. */
export type Node = Readonly<Record<string, unknown>>;

export interface Interval {
  readonly unit: IntervalUnit;
  /** 1 to 1,000. */
  readonly count: number;
}

/** The shop's currency, which every amount must be in. */
export interface ShopMoney {
  /** ISO 4217 code. */
  readonly currency: string;
  readonly minorDigits: number;
}

type Read<T> = (node: Node, field: string) => T;

const maxTextLength = 1000;
const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(10_000, 0, 1);
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const amountPattern = /^\d{1,12}(?:\.\d+)?$/;
/** The only values that messages repeat: such words never identify a person. */
const enumPattern = /^[A-Z][A-Z_]{0,40}$/;

const wrong = (field: string, value: unknown, expected: string) =>
  new Refusal(value === undefined ? `${field} is missing` : `${field} must be ${expected}`);

/** Whether a text is an enum-like word, so that messages may repeat it. */
export function isEnumWord(text: string): boolean {
  return enumPattern.test(text);
}

/** The number in the key of a node's own GID. */
export function idOf(key: string): number {
  const id = numberOf(key);
  if (id === undefined) throw new Refusal('id must end in a number from 1 to 9007199254740991');
  return id;
}

/** Reads null if the field is null or missing. */
export function optional<T>(read: Read<T>): Read<T | null> {
  return (node, field) =>
    node[field] === undefined || node[field] === null ? null : read(node, field);
}

export function objectOf(node: Node, field: string): Node {
  const value = node[field];
  if (!isObject(value)) throw wrong(field, value, 'an object');
  return value;
}

export function textOf(node: Node, field: string): string {
  const value = node[field];
  if (typeof value !== 'string' || value.length > maxTextLength) {
    throw wrong(field, value, `text of at most ${maxTextLength} characters`);
  }
  if (!value.isWellFormed() || value.includes('\0')) {
    throw wrong(field, value, 'text without NUL or broken surrogates');
  }
  return value;
}

export function booleanOf(node: Node, field: string): boolean {
  const value = node[field];
  if (typeof value !== 'boolean') throw wrong(field, value, 'true or false');
  return value;
}

export function integerOf(min: number, max: number): Read<number> {
  return (node, field) => {
    const value = node[field];
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      throw wrong(field, value, `an integer from ${min} to ${max}`);
    }
    return value as number;
  };
}

/** Translates an enum value of Shopify's. */
export function enumOf<T>(meanings: ReadonlyMap<string, T>): Read<T> {
  return (node, field) => {
    const value = node[field];
    const meaning = typeof value === 'string' ? meanings.get(value) : undefined;
    if (meaning !== undefined) return meaning;
    const known = [...meanings.keys()].join(', ');
    if (typeof value === 'string' && isEnumWord(value)) {
      throw new Refusal(`${field} ${value} is not known; it must be one of ${known}`);
    }
    throw wrong(field, value, `one of ${known}`);
  };
}

/** Epoch milliseconds. */
export function timeOf(node: Node, field: string): number {
  const value = node[field];
  const time =
    typeof value === 'string' && timePattern.test(value) ? Date.parse(value) : Number.NaN;
  if (!(time >= earliest && time < latest)) {
    throw wrong(field, value, 'an ISO 8601 time with an offset or Z, in the years 1970 to 9999');
  }
  return time;
}

/** Reads the number in a GID of this type. */
export function numberOfGid(type: string): Read<number> {
  return (node, field) => {
    const gid = parseGid(node[field]);
    const number = gid?.type === type ? numberOf(gid.key) : undefined;
    if (number === undefined)
      throw wrong(field, node[field], `a gid://shopify/${type}/… with a number`);
    return number;
  };
}

const units = new Map(intervalUnits.map((unit) => [unit.toUpperCase(), unit]));
const unitOf = enumOf(units);
const countOf = integerOf(1, 1000);

/** Reads `interval` and `intervalCount` of a policy. */
export function intervalOf(node: Node, field: string): Interval {
  const policy = objectOf(node, field);
  return { unit: unitOf(policy, 'interval'), count: countOf(policy, 'intervalCount') };
}

export function checkCurrency(node: Node, what: string, { currency }: ShopMoney): void {
  const value = node['currencyCode'];
  if (value === currency) return;
  if (typeof value === 'string' && /^[A-Z]{3}$/.test(value)) {
    throw new Refusal(`${what} is in ${value}, and the shop's currency is ${currency}`);
  }
  throw wrong('currencyCode', value, 'an ISO 4217 code');
}

/**
 * Reads an amount in the shop's currency, as the shortest decimal. Shopify's number of decimals
 * ("15.3", "1000.0") does not depend on the currency, so trailing zeros do not count as decimals.
 */
export function amountOf(shop: ShopMoney): Read<string> {
  return (node, field) => moneyOf(objectOf(node, field), field, field, shop);
}

/** The same for an amount that Shopify gives in the shop's and in the customer's currency. */
export function shopMoneyOf(node: Node, field: string, what: string, shop: ShopMoney): string {
  return moneyOf(objectOf(objectOf(node, field), 'shopMoney'), `${field}.shopMoney`, what, shop);
}

/** @param what names the amount if it is in another currency */
function moneyOf(money: Node, field: string, what: string, shop: ShopMoney): string {
  checkCurrency(money, what, shop);
  const { amount } = money;
  const shortest =
    typeof amount === 'string' && amountPattern.test(amount) ? shorten(amount) : undefined;
  if (shortest === undefined || (shortest.split('.')[1]?.length ?? 0) > shop.minorDigits) {
    const expected = `an amount of 0 or more, below 10^12, with at most ${shop.minorDigits} decimals`;
    throw wrong(`${field}.amount`, amount, expected);
  }
  return shortest;
}
