import { shopDigitsOf } from '../../money.ts';
import type { ShopVisit } from '../pages.ts';
import { numberFormat } from '../ui/formats.ts';
import { countFormat, localeOf, moneyFormat } from '../ui/locale.ts';
import type { Chart } from './chart.ts';
import type { Series } from './drawing.ts';

/** How a chart writes its values. */
export type Values = Pick<Chart, 'format' | 'formatShort' | 'unit' | 'isMoney'>;

/** The kinds of values that charts show. */
export function unitsOf(
  visit: ShopVisit,
): Readonly<Record<'counts' | 'amounts' | 'shares', Values>> {
  const { currency } = visit.shop;
  const locale = localeOf(visit);
  const percent = { style: 'percent', maximumFractionDigits: 2 } as const;
  return {
    counts: {
      format: countFormat(visit),
      formatShort: shortFormat(locale, {}),
      unit: 1,
      isMoney: false,
    },
    amounts: {
      format: moneyFormat(visit, visit.shop),
      formatShort: shortFormat(locale, { style: 'currency', currency }),
      unit: 10 ** -shopDigitsOf(currency),
      isMoney: true,
    },
    shares: {
      format: numberFormat(locale, percent).format,
      formatShort: numberFormat(locale, percent).format,
      unit: 0.0001,
      isMoney: false,
    },
  };
}

function shortFormat(locale: string, options: Intl.NumberFormatOptions) {
  return numberFormat(locale, {
    ...options,
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format;
}

/** @param before the rows of the period compared with, if the shop has its data */
export function seriesOf<Row>(
  name: string,
  tone: Series['tone'],
  rows: readonly Row[],
  valueOf: (row: Row) => number,
  before?: readonly Row[],
): Series {
  return { name, tone, values: rows.map(valueOf), before: before?.map(valueOf) };
}

/** @param unit the smallest unit of the values; summing whole units keeps amounts exact */
export function sumOf<Row>(valueOf: (row: Row) => number, unit = 1) {
  return (rows: readonly Row[]): number =>
    rows.reduce((sum, row) => sum + Math.round(valueOf(row) / unit), 0) / Math.round(1 / unit);
}
