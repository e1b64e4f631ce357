import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import type { ShopVisit } from '../pages.ts';
import { type Chart, columnsOf } from '../charts/chart.ts';
import type { Dashboard } from '../dashboard/dashboard.ts';
import { outcomes } from '../dashboard/reasons.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';
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
  return csvFile({ shop, noun: id, now, heads, rows: once(rows) });
}

/** The table of cancellation reasons. */
export function reasonsFile(
  { shop }: ShopVisit,
  { reasons }: Pick<Dashboard, 'reasons'>,
  now: number,
): Answer<Readable> {
  const heads = ['Reason', ...outcomes.map(({ field }) => outcomeLabels[field][0])];
  const rows = reasons.map((row): Cell[] => [
    reasonLabels[row.reason],
    ...outcomes.map(({ field }) => row[field]),
  ]);
  return csvFile({ shop, noun: 'reasons', now, heads, rows: once(rows) });
}

async function* once(rows: readonly Cell[][]): AsyncGenerator<readonly Cell[][]> {
  yield rows;
}
