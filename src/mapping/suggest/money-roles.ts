import { minorDigitsOf } from '../../money.ts';
import { type AmountFormat, perInterval, readAmount } from '../amounts.ts';
import { type Answers, type RoleContext, chosenColumn, useOf } from './answers.ts';
import { type Column, bestOf, sampleOf } from './table.ts';
import { intervalOf } from './meanings.ts';
import { type Interval, doubtOfPeriod, isNamed, periodOfName } from './names.ts';

/** The column of the price that is charged each interval. */
export interface PriceRole {
  readonly column: Column;
  readonly format: AmountFormat;
  /** The columns of other prices, and this one, by the words of the interval that says which one counts. */
  readonly byInterval?: { readonly words: Column; readonly columns: ReadonlyMap<string, Column> };
  /** Words that stand for 0. */
  readonly free: readonly string[];
  /** The period that its values name, or the column's name. */
  readonly period: Interval | undefined;
  /** Whether it is already for all units, so that it must not be multiplied. */
  readonly isTotal: boolean;
  /** Whether it may be a sum over several intervals. */
  readonly isGuess: boolean;
  /** Whether "1.234" may be read in two ways. */
  readonly isAmbiguous: boolean;
  readonly doubt?: string | undefined | false;
}

const readableShare = 0.95;
/** The same for a column that a person chooses, or that nothing but a price is called: its other rows are refused. */
export const chosenShare = 0.5;

/**
 * The columns that can be read as amounts.
 * @param minShare of their values
 */
export function amountColumns(
  columns: readonly Column[],
  { minorDigits, answers }: RoleContext,
  minShare: number,
) {
  const separator = answers.get('separator') === 'decimal' ? 'decimal' : 'thousands';
  return columns.flatMap((column) => {
    if (column.is('contact') || column.filled === 0) return [];
    const texts = sampleOf(column);
    const free = texts.filter(isFree);
    const paid = texts.filter((text) => !isFree(text));
    const guess = guessAmounts(paid, minorDigits, separator);
    return paid.length > 0 && guess.share >= minShare ? [{ column, guess, free }] : [];
  });
}

/** A score that only names of prices have. */
const namedScore = 50;

const isFlag = (column: Column) => column.values.length === 2 && column.isFlag;

const isOfDiscounts = /\b(?:discounts?|coupons?|promo|rabatt|descuento)\b/;
const isNothing = /^(?:[0.,]*|false|no|none)$/i;

/** Words that stand for an amount of 0. */
const isFree = (text: string) =>
  /^(?:free|free (?:plan|trial|tier)|gratis|kostenlos|kostenfrei|gratuite?|gratuito)$/i.test(text);

/** How likely a column is the price of an interval. */
function priceScore(column: Column): number {
  // "is_premium" is no price.
  if (column.is('notPrice') || isFlag(column)) return 0;
  const period = periodOfName(column.words);
  const points = 50 + (period ? 20 : 0) + (/\bmrr\b|recurring/.test(column.words) ? 15 : 0);
  const isYear = period?.unit === 'year';
  return (
    points - (column.is('total') ? 45 : 0) - (column.is('average') ? 40 : 0) - (isYear ? 5 : 0)
  );
}

export function findPrice(columns: readonly Column[], context: RoleContext): PriceRole | undefined {
  const { answers, minorDigits } = context;
  const chosen = chosenColumn(answers, 'price', columns);
  if (chosen === null) return undefined;
  const priced = chosen ? [chosen] : columns.filter((column) => column.is('price'));
  const readable = amountColumns(priced, context, chosenShare);
  const amounts = readable.filter(({ guess }) => chosen || guess.share >= readableShare);
  const named = ({ column }: { readonly column: Column }) =>
    priceScore(column) >= namedScore && !doubtOfName(column) ? namedScore : 0;
  const best =
    bestOf(amounts, ({ column }) => (chosen ? 100 : priceScore(column))) ?? bestOf(readable, named);
  if (!best) return undefined;
  const { column, guess, free } = best.found;
  const texts = column.values.filter(
    (text) => 'value' in readAmount(text, guess.format, minorDigits),
  );
  const isWhole = texts.every((text) => /^\d+$/.test(text));
  const isCents = isWhole && column.is('cents');
  const period = guess.period ?? periodOfName(column.words);
  const rival = amounts.find(({ column: each }) => {
    const isOther = (['notPrice', 'total', 'average'] as const).some((kind) => each.is(kind));
    const isSame = periodOfName(each.words)?.unit === period?.unit && !isFlag(each);
    return each !== column && !isOther && isSame && !doubtOfName(each);
  });
  const discount = columns.find(
    ({ words, values }) =>
      isOfDiscounts.test(words) && values.some((text) => !isNothing.test(text)),
  );
  const isSum = column.is('total') && best.score < 50;
  const isAverage = column.is('average') && !chosen;
  return {
    column,
    format: isCents ? { minorUnits: true } : guess.format,
    free,
    period,
    isTotal:
      isSum ||
      /\b(?:mrr|arr)\b|revenue|umsatz|total/.test(column.words) ||
      periodOfName(column.words) !== undefined,
    isGuess: isSum || isAverage,
    isAmbiguous: guess.isAmbiguous,
    doubt:
      (isSum && 'the name speaks of a total; the price of one interval is needed') ||
      (isAverage &&
        'the name speaks of an average or of one payment; is it the price of an interval?') ||
      (guess.isAmbiguous && !answers.has('separator') && 'the separator may be a decimal one') ||
      doubtOfPeriod(column.name) ||
      (!chosen &&
        (doubtOfName(column) ??
          (discount && `"${discount.name}" takes nothing off "${column.name}"`) ??
          (rival && `"${column.name}" is taken for the price; or is it "${rival.column.name}"`) ??
          (isWhole && !isCents && doubtOfUnit(column)))),
  };
}

/** Prices such as "price_monthly" and "price_yearly", of which a column of intervals says which one counts. */
export function findPricesOf(
  words: Column | undefined,
  columns: readonly Column[],
  context: RoleContext,
): PriceRole['byInterval'] {
  if (!words || words.is('commitment') || context.answers.size > 0) return undefined;
  const priced = columns.filter((column) => column.is('price') && priceScore(column) >= namedScore);
  const amounts = amountColumns(priced, context, chosenShare).map(({ column }) => column);
  const intervals = words.values.filter(intervalOf);
  const found = intervals.map((text) => {
    const interval = JSON.stringify(intervalOf(text));
    return amounts.filter(({ words: name }) => JSON.stringify(periodOfName(name)) === interval);
  });
  const isClear = found.length > 1 && found.every((each) => each.length === 1);
  return isClear
    ? { words, columns: new Map(intervals.map((text, at) => [text, found[at]?.[0] as Column])) }
    : undefined;
}

const partsOfPrices = [
  'price',
  'plan',
  'subscription',
  'customer',
  'interval',
  'quantity',
  'currency',
  'cents',
  'ofPrices',
] as const;

/** A name that says more than that it is a price: a threshold, a limit, what was paid so far. */
function doubtOfName({ name, words }: Column): string | undefined {
  const others = words
    .split(' ')
    .filter((word) => !partsOfPrices.some((kind) => isNamed(word, kind)) && !periodOfName(word));
  const quoted = others.map((word) => `"${word}"`).join(' and ');
  if (others.length === 0) return undefined;
  return `"${name}" may be something else than the price: ${quoted}`;
}

const mayBeCents = (amount: number) => amount >= 100 && [0, 50, 90, 95, 99].includes(amount % 100);

/** Whole amounts such as 1900 and 4999 may be cents, and any that are Stripe's. */
export function doubtOfUnit({ name, values }: Column, isStripes = false): string | undefined {
  const amounts = values.map(Number).filter((amount) => amount > 0);
  return amounts.length > 0 && (isStripes || amounts.every(mayBeCents))
    ? `"${name}" has whole numbers, such as cents; if so, add "minorUnits": true`
    : undefined;
}

/** The number of units, such as seats. */
export function findQuantity(columns: readonly Column[], answers: Answers): Column | undefined {
  const candidates = quantityCandidates(columns);
  const guess = candidates.find((column) => column.is('quantity') && !column.is('price'));
  return useOf(answers, 'units', candidates, guess).taken;
}

export function quantityCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(
    ({ filled, texts, values, mayBeEmpty }) =>
      (filled === texts.length || (filled > 0 && mayBeEmpty)) &&
      values.every((text) => /^[1-9]\d{0,5}$/.test(text)),
  );
}

/** The currency of each row, by its ISO 4217 code. */
export function findCurrency(columns: readonly Column[], answers: Answers): Column | undefined {
  const candidates = currencyCandidates(columns);
  const guess = candidates.find((column) => column.is('currency'));
  return useOf(answers, 'currency', candidates, guess).taken;
}

const isCode = (code: string) => minorDigitsOf(code.toUpperCase()) !== undefined;

export function currencyCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(({ values }) => values.length > 0 && values.every(isCode));
}

/** Which of two readings of "1.234" is meant. */
type Separator = 'thousands' | 'decimal';

const bodies: readonly AmountFormat[] = [
  {},
  { thousands: ',' },
  { decimal: ',' },
  { decimal: ',', thousands: '.' },
  { decimal: ',', thousands: ' ' },
  { thousands: ' ' },
  { thousands: "'" },
];

const around = /^([^\d\-.,'’]*?)\s*(-?\d[\d.,'’ \u00a0\u202f]*?)\s*([^\d.,'’]*)$/;
const currencySign =
  /^(?:[\p{L}.]{0,3}\p{Sc}[\p{L}]{0,2}|[A-Z]{3}|R\$|kr\.?|zł|Fr\.?|Rs\.?|Ft|Kč|лв|€)$/u;
const maxSigns = 4;

/**
 * Guesses how amounts are written.
 * @param texts distinct values that are not empty
 * @param minorDigits decimals of the shop's currency
 * @param separator what decides where both are possible
 */
function guessAmounts(
  texts: readonly string[],
  minorDigits: number,
  separator: Separator = 'thousands',
) {
  const signs = new Map<string, number>();
  const numbers: string[] = [];
  const intervals = new Set<string | undefined>();
  for (const text of texts) {
    const [, before = '', number, after = ''] = around.exec(text) ?? [];
    const found = [before.trim(), after.trim()].filter((sign) => sign !== '');
    const named = intervalNamedBy(after.trim());
    const bare = [before.trim(), named ? after.replace(perInterval, '').trim() : after.trim()];
    const isMoney = bare.every((sign) => sign === '' || currencySign.test(sign));
    if (number === undefined || !isMoney) continue;
    intervals.add(JSON.stringify(named));
    for (const sign of found) signs.set(sign, (signs.get(sign) ?? 0) + 1);
    numbers.push(number);
  }
  const none = { format: {}, share: 0, isAmbiguous: false, period: undefined };
  // A mapping cannot read "$29/mo" and "$290/yr" from one column.
  if (numbers.length === 0 || signs.size > maxSigns || intervals.size > 1) return none;
  const [interval] = intervals;

  const counts = bodies.map((body) => {
    const format = { ...body, round: true, negatives: 'zero' } as const;
    const isRead = (number: string) => 'value' in readAmount(number, format, 2);
    return numbers.filter(isRead).length;
  });
  const best = Math.max(...counts);
  const readers = bodies.filter((_, index) => counts[index] === best);
  const { body, isAmbiguous } = choose(readers, numbers, separator);
  const isBelowZero = texts.some((text) => text.includes('-'));
  const format: AmountFormat = {
    ...body,
    ...(isBelowZero && { negatives: 'zero' as const }),
    ...(signs.size > 0 && {
      signs: [...signs].toSorted((a, b) => b[1] - a[1]).map(([sign]) => sign),
    }),
  };
  return {
    /** How the column writes money. */
    format: isTooFine(numbers, body, minorDigits) ? { ...format, round: true } : format,
    /** The share of its values that are read. */
    share: best / texts.length,
    /** Whether another format reads the values as other amounts. */
    isAmbiguous,
    /** The interval that all values name, as in "$29/mo". */
    period: interval === undefined ? undefined : (JSON.parse(interval) as Interval),
  };
}

function intervalNamedBy(sign: string): Interval | undefined {
  const [, word] = perInterval.exec(sign) ?? [];
  return word === undefined ? undefined : intervalOf(word);
}

/** Whether some have more decimals than the currency. */
function isTooFine(numbers: readonly string[], body: AmountFormat, minorDigits: number): boolean {
  return numbers.some(
    (number) =>
      'wrong' in readAmount(number, body, minorDigits) &&
      'value' in readAmount(number, { ...body, round: true }, minorDigits),
  );
}

/** "1,234" is a thousand where all commas have three digits after them; so is "1.234". */
function choose(
  readers: readonly AmountFormat[],
  numbers: readonly string[],
  separator: Separator,
): { readonly body: AmountFormat; readonly isAmbiguous: boolean } {
  const [plain = {}] = readers;
  const marked = numbers.filter((number) => /[.,]/.test(number));
  if (marked.length === 0) return { body: plain, isAmbiguous: false };
  const isGrouped = marked.every((number) => /^-?[1-9]\d{0,2}(?:[.,]\d{3})+$/.test(number));
  const byPoint = readers.find(({ decimal, thousands }) => decimal === ',' && thousands === '.');
  const byComma = readers.find(({ decimal, thousands }) => !decimal && thousands === ',');
  if (isGrouped && byPoint && marked.some((number) => number.includes('.'))) {
    return { body: separator === 'decimal' ? {} : byPoint, isAmbiguous: true };
  }
  if (isGrouped && byComma) {
    const isDecimal = separator === 'decimal' && readers.length > 1;
    return { body: isDecimal ? { decimal: ',' } : byComma, isAmbiguous: readers.length > 1 };
  }
  // A comma that is no group of three is a decimal comma.
  return { body: plain, isAmbiguous: false };
}
