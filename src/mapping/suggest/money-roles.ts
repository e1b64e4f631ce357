import { minorDigitsOf } from '../../money.ts';
import type { AmountFormat } from '../amounts.ts';
import { guessAmounts } from './amounts.ts';
import { type Answers, chosenColumn } from './ask/answers.ts';
import { bestOf, sampleOf } from './choose.ts';
import { yesOrNo } from './meanings.ts';
import { type Interval, periodOfName } from './names.ts';
import type { Column } from './table.ts';

/** The column of the price that is charged each interval. */
export interface PriceRole {
  readonly column: Column;
  readonly format: AmountFormat;
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
  readonly doubt?: string | undefined;
}

const readableShare = 0.95;
/** The same for a column that a person chooses: its other rows are refused. */
export const chosenShare = 0.5;

interface AmountContext {
  readonly minorDigits: number;
  readonly answers: Answers;
  readonly minShare: number;
}

/**
 * The columns that can be read as amounts.
 * @param minShare of their values
 */
export function amountColumns(
  columns: readonly Column[],
  { minorDigits, answers, minShare }: AmountContext,
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

const isFlag = ({ counts }: Column) =>
  counts.size === 2 && [...counts.keys()].every((text) => yesOrNo(text) !== undefined);

/** Words that stand for an amount of 0. */
const isFree = (text: string) =>
  /^(?:free|free (?:plan|trial|tier)|gratis|kostenlos|kostenfrei|gratuite?|gratuito)$/i.test(text);

export function findPrice(
  columns: readonly Column[],
  minorDigits: number,
  answers: Answers,
): PriceRole | undefined {
  const chosen = chosenColumn(answers, 'price', columns);
  if (chosen === null) return undefined;
  const amounts = amountColumns(
    chosen ? [chosen] : columns.filter((column) => column.is('price')),
    { minorDigits, answers, minShare: chosen ? chosenShare : readableShare },
  );
  const best = bestOf(amounts, ({ column }) => {
    if (chosen) return 100;
    const period = periodOfName(column.words);
    const points = 50 + (period ? 20 : 0) + (/\bmrr\b|recurring/.test(column.words) ? 15 : 0);
    const isYear = period?.unit === 'year';
    // "is_premium" is no price.
    if (column.is('notPrice') || isFlag(column)) return 0;
    return (
      points - (column.is('total') ? 45 : 0) - (column.is('average') ? 40 : 0) - (isYear ? 5 : 0)
    );
  });
  if (!best) return undefined;
  const { column, guess, free } = best.found;
  const isCents =
    column.is('cents') && [...column.counts.keys()].every((text) => /^\d+$/.test(text));
  const isSum = column.is('total') && best.score < 50;
  const isAverage = column.is('average') && !chosen;
  return {
    column,
    format: isCents ? { minorUnits: true } : guess.format,
    free,
    period: guess.period ?? periodOfName(column.words),
    isTotal:
      isSum ||
      /\b(?:mrr|arr)\b|revenue|umsatz|total/.test(column.words) ||
      periodOfName(column.words) !== undefined,
    isGuess: isSum || isAverage,
    isAmbiguous: guess.isAmbiguous,
    doubt: isSum
      ? 'the name speaks of a total; the price of one interval is needed'
      : isAverage
        ? 'the name speaks of an average or of one payment; is it the price of an interval?'
        : guess.isAmbiguous && !answers.has('separator')
          ? 'the separator may be a decimal one'
          : undefined,
  };
}

/** The number of units, such as seats. */
export function findQuantity(columns: readonly Column[]): Column | undefined {
  return bestOf(columns, (column) => {
    if (!column.is('quantity') || column.is('price') || column.filled < column.texts.length)
      return 0;
    return [...column.counts.keys()].every((text) => /^[1-9]\d{0,5}$/.test(text)) ? 60 : 0;
  })?.found;
}

/** The currency of each row, by its ISO 4217 code. */
export function findCurrency(columns: readonly Column[]): Column | undefined {
  return bestOf(columns, (column) => {
    const codes = [...column.counts.keys()];
    const isAll =
      codes.length > 0 && codes.every((code) => minorDigitsOf(code.toUpperCase()) !== undefined);
    return isAll && column.is('currency') ? 60 : 0;
  })?.found;
}
