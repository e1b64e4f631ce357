import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import type { ShopVisit } from '../pages.ts';
import { type Chart, columnsOf } from '../charts/chart.ts';
import { type Cell, csvFile } from './csv.ts';

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

type Table = Omit<Parameters<typeof csvFile>[0], 'rows'> & { readonly rows: readonly Cell[][] };

/** A table that a page shows whole. */
export function tableFile({ rows, ...parts }: Table): Answer<Readable> {
  async function* once() {
    yield rows;
  }
  return csvFile({ ...parts, rows: once() });
}
