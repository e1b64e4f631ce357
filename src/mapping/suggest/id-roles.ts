import { type Answers, chosenColumn, useOf } from './answers.ts';
import { type Column, bestOf } from './table.ts';
import { hasEmailAddress } from '../../records/values.ts';
import { entityOf, isNamed, periodOfName } from './names.ts';

/** The columns whose values, joined, identify something. */
export interface IdRole {
  readonly columns: readonly Column[];
  /** Whether it is a number that can be used as it is. */
  readonly isNumber: boolean;
  readonly doubt?: string | undefined;
}

export interface IdRoles {
  readonly subscription: IdRole | undefined;
  readonly customer: IdRole | undefined;
  /** Whether the customer's column was taken only because its values are unique, or addresses. */
  readonly isGuess: boolean;
}

/** Rows without an id are refused, so there must not be many. */
const filledShare = 0.95;

/** Other subscriptions than that of the row, or parts of them. */
export const isOfOther =
  /\b(?:balance|failure|previous|prev|parent|old|replaced|item|items|group|addon|line|data)\b/;
/** "subscription_plan_id" does not identify a subscription. */
const isOfPlans = /\b(?:plan|plans|tier|package|paket|product|produkt|type)\b/;

/** "Active subscriptions" is a number, and "subscription status" a word. */
const isCount = /(?:subscriptions|contracts|abos|status)$|\b(?:active|new|total|count)\b/;

/** More rows than these need more than a few values in a column that tells them apart. */
const fewRows = 10;
const fewValues = 2;

/** The columns that may identify something: nearly all rows have a value, which is no date, yes or no. */
export function idCandidates(columns: readonly Column[], rows: number): Column[] {
  return columns.filter((column) => {
    const { filled, counts, values } = column;
    if (filled === 0 || filled < rows * filledShare || column.is('contact')) return false;
    const isFlag = column.isFlag && !column.is('id');
    const areFew = rows > fewRows && counts.size <= fewValues && !column.is('id');
    return !isFlag && !areFew && !values.every((text) => date.test(text));
  });
}

const date =
  /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:\b|T)|^\d{1,2}[- ]\p{L}{3,9}[- ]\d{2,4}|^\p{L}{3,9} \d{1,2},? \d{4}/u;

/**
 * Whether a column such as "Subscription" holds ids rather than the names of plans: texts with digits, and many
 * of them, since a plan has several subscriptions.
 */
export function isSubscriptionIds(column: Column): boolean {
  const { words, counts, filled } = column;
  const last = words.split(' ').at(-1) ?? '';
  const isNamedSo = isNamed(last, 'subscription') || /^(?:membership|mitgliedschaft)$/.test(last);
  if (!isNamedSo || isOfPlans.test(words) || periodOfName(words) || isCount.test(words))
    return false;
  const areMany = counts.size * 5 > filled || counts.size > 30;
  return areMany && looksLikeIds(column) && !column.values.some((text) => date.test(text));
}

/** When the latest of several rows was written: a time of change, or the period of a ledger. */
export interface Latest {
  readonly column: Column;
  readonly isOf: 'changes' | 'periods';
}

/**
 * @param parts further columns that may tell a customer's subscriptions apart, most telling first
 * @param latest if rows of one id are what it was at several times
 */
export function findIds(
  columns: readonly Column[],
  rows: number,
  parts: readonly Column[],
  answers: Answers,
  latest?: Latest,
): IdRoles {
  const usable = idCandidates(columns, rows);
  const ownGuess = bestOf(usable, (column) => {
    if (column.is('customer') && !column.is('subscription')) return 0;
    if (isOfPlans.test(column.words) || isOfOther.test(column.words)) return 0;
    if (column.is('subscription') && column.is('id')) return column.isUnique ? 100 : 60;
    if (isSubscriptionIds(column)) return column.isUnique ? 70 : 50;
    if (column.words === 'id' || column.words === 'uuid') return column.isUnique ? 80 : 30;
    return 0;
  })?.found;
  const own = useOf(answers, 'subscription', usable, ownGuess).taken;
  const addresses = addressColumns(columns, rows);
  const chosen = chosenColumn(answers, 'customer', [...usable, ...addresses]);
  const guessed = bestOf(usable, (column) => {
    // Few customers have many subscriptions, and "is_subscriber" tells none apart.
    const { size } = column.counts;
    const areMany = column.isUnique || (size > 2 && size * 20 >= column.filled);
    if (areMany && size > 0 && column.values.every(hasEmailAddress)) return 30;
    if (!column.is('customer') || (column.is('personal') && !column.is('id'))) return 0;
    if (column.is('id')) return entityOf(column.words) === 'customer' ? 100 : 0;
    // "Weeks as customer" is a number.
    if (periodOfName(column.words)) return 0;
    const last = column.words.split(' ').at(-1) ?? '';
    return isNamed(last, 'customer') && areMany && looksLikeIds(column) ? 40 : 0;
  })?.found;
  const address = guessed ? undefined : addresses.find(isUnlessFew);
  const customer = chosen ?? (chosen === null ? undefined : (guessed ?? address));
  const any = own ?? customer ?? (chosen === null ? undefined : anyIdOf(usable));
  if (!any) return { subscription: undefined, customer: undefined, isGuess: false };
  const isGuess = any !== own && any !== customer;
  const isByAddress = address !== undefined && customer === address && chosen === undefined;
  const doubt = isByAddress
    ? `"${address.name}" has e-mail addresses, which tell customers apart; of each, only a keyed number is kept`
    : isGuess
      ? `"${any.name}" is taken because each value occurs once`
      : undefined;
  const main = own ?? any;
  const isHistory = latest !== undefined && (latest.isOf === 'periods' || main === own);
  const repeats = `"${main.name}" has several rows each: that with the latest "${latest?.column.name}" counts`;
  return {
    subscription: main.isUnique
      ? idOf(main, main === own ? undefined : doubt)
      : isHistory
        ? idOf(main, repeats)
        : joined(main, parts, rows),
    customer: idOf(
      customer ?? any,
      customer || isGuess ? doubt : `no column tells customers apart: each "${any.name}" is one`,
    ),
    isGuess: isGuess || isByAddress,
  };
}

/** A customer with several subscriptions: the fewest further columns that make each row's id its own. */
function joined(main: Column, parts: readonly Column[], rows: number): IdRole {
  const columns = [main];
  for (const part of parts) {
    if (columns.includes(part)) continue;
    const before = distinct(columns);
    if (before === rows) break;
    if (distinct([...columns, part]) > before) columns.push(part);
  }
  const left = rows - distinct(columns);
  const names = columns.map(({ name }) => `"${name}"`).join(' and ');
  return {
    columns,
    isNumber: false,
    doubt:
      left === 0
        ? `${names} together tell the subscriptions apart`
        : `rows with the same ${names} replace each other (${left.toLocaleString('en-US')} of those read)`,
  };
}

function distinct(columns: readonly Column[]): number {
  const [first] = columns;
  const keys = first?.texts.map((_, row) => JSON.stringify(columns.map(({ texts }) => texts[row])));
  return new Set(keys).size;
}

/** The values of a column as ids: numbers as they are, in every table that has them. */
export function idOf(column: Column, doubt?: string): IdRole {
  const isNumber = column.values.every((text) => /^[1-9]\d{0,14}$/.test(text));
  return { columns: [column], isNumber, doubt };
}

/** The columns of e-mail addresses, which can tell customers apart. */
export function addressColumns(columns: readonly Column[], rows: number): Column[] {
  return columns.filter(
    ({ filled, values }) =>
      filled > 0 && filled >= rows * filledShare && values.every(hasEmailAddress),
  );
}

/** One address for all rows is the shop's own. */
const isUnlessFew = ({ isUnique, values }: Column) => isUnique || values.length > fewValues;

/** Numbers, or texts with digits and without spaces, as no name has them. */
function looksLikeIds({ values: texts }: Column): boolean {
  const isNumber = texts.some((text) => /^\d*\.\d+$/.test(text));
  return !isNumber && texts.every((text) => /^(?=.*\d)[\w:./-]+$/.test(text));
}

function anyIdOf(columns: readonly Column[]) {
  return bestOf(columns, (column) => {
    if (column.is('personal') || column.is('price') || !column.isUnique) return 0;
    if (column.is('start') || column.is('ended') || column.is('updated')) return 0;
    if (!looksLikeIds(column)) return 0;
    return column.is('id') ? 60 : 20;
  })?.found;
}
