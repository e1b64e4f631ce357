import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import { type Cell, tableFile } from '../framework/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { type Chart, columnsOf } from './chart.ts';

/** The table of a chart. */
export function chartFile({ shop }: ShopVisit, chart: Chart, now: number): Answer<Readable> {
  const { id, series, times, isMoney } = chart;
  const columns = columnsOf(series);
  const heads = [
    'First day (UTC)',
    'Last day (UTC)',
    ...columns.map(({ name }) => name),
    ...(isMoney ? ['Currency'] : []),
  ];
  const rows = times.map(({ first, last }, index): Cell[] => [
    first,
    last,
    ...columns.map(({ values }) => values[index] ?? null),
    ...(isMoney ? [shop.currency] : []),
  ]);
  return tableFile({ shop, noun: id, now, heads, rows });
}
