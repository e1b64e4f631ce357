import { type AmountFormat, perInterval, readAmount } from '../amounts.ts';
import { intervalOf } from './meanings.ts';
import type { Interval } from './names.ts';

/** Which of two readings of "1.234" is meant. */
export type Separator = 'thousands' | 'decimal';

/** How a column writes money. */
export interface AmountGuess {
  readonly format: AmountFormat;
  /** The share of its values that are read. */
  readonly share: number;
  /** Whether another format reads the values as other amounts. */
  readonly isAmbiguous: boolean;
  /** The interval that all values name, as in "$29/mo". */
  readonly period: Interval | undefined;
}

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
export function guessAmounts(
  texts: readonly string[],
  minorDigits: number,
  separator: Separator = 'thousands',
): AmountGuess {
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
    ...(signs.size > 0 && { signs: byFrequency(signs) }),
  };
  return {
    format: isTooFine(numbers, body, minorDigits) ? { ...format, round: true } : format,
    share: best / texts.length,
    isAmbiguous,
    period: interval === undefined ? undefined : (JSON.parse(interval) as Interval),
  };
}

function intervalNamedBy(sign: string): Interval | undefined {
  const [, word] = perInterval.exec(sign) ?? [];
  return word === undefined ? undefined : intervalOf(word);
}

function byFrequency(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([sign]) => sign);
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
