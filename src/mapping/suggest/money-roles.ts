import { minorDigitsOf } from '../../money.ts';
import type { AmountFormat } from '../amounts.ts';
import { guessAmounts } from './amounts.ts';
import { bestOf, sampleOf } from './choose.ts';
import { type Interval, periodOfName } from './names.ts';
import type { Column } from './table.ts';

/** The column of the price that is charged each interval. */
export interface PriceRole {
  readonly column: Column;
  readonly format: AmountFormat;
  /** The period that the column's name speaks of. */
  readonly period: Interval | undefined;
  /** Whether it is already for all units, so that it must not be multiplied. */
  readonly isTotal: boolean;
  readonly doubt?: string | undefined;
}

const readableShare = 0.95;

export function findPrice(columns: readonly Column[], minorDigits: number): PriceRole | undefined {
  const amounts = columns.flatMap((column) => {
    if (!column.is('price') || column.is('contact') || column.filled === 0) return [];
    const guess = guessAmounts(sampleOf(column), minorDigits);
    return guess.share >= readableShare ? [{ column, guess }] : [];
  });
  const best = bestOf(amounts, ({ column }) => {
    const period = periodOfName(column.words);
    const points = 50 + (period ? 20 : 0) + (/\bmrr\b|recurring/.test(column.words) ? 15 : 0);
    const isYear = period?.unit === 'year';
    return (
      points - (column.is('total') ? 45 : 0) - (column.is('notPrice') ? 60 : 0) - (isYear ? 5 : 0)
    );
  });
  if (!best) return undefined;
  const { column, guess } = best.found;
  const isCents =
    column.is('cents') && [...column.counts.keys()].every((text) => /^\d+$/.test(text));
  const isSum = column.is('total') && best.score < 50;
  return {
    column,
    format: isCents ? { minorUnits: true } : guess.format,
    period: periodOfName(column.words),
    isTotal:
      isSum ||
      /\b(?:mrr|arr)\b|revenue|umsatz|total/.test(column.words) ||
      periodOfName(column.words) !== undefined,
    doubt: isSum
      ? 'the name speaks of a total; the price of one interval is needed'
      : guess.isAmbiguous
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
