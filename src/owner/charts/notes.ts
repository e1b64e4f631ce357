import { day } from '../../metrics/bounds.ts';
import type { Sql } from '../../store/database.ts';
import { listEvents } from '../../store/owners/events.ts';
import type { ShopVisit } from '../pages.ts';
import { countOf, moneyFormat, signedFormat } from '../ui/formats.ts';
import { isoDay } from '../view/view.ts';
import type { Chart } from './chart.ts';

/** Less of the MRR is no change of prices, but of some customers. */
const minChanged = 0.02;

/**
 * In which spans of days the prices of many changed, in words; undefined if in none.
 * @param spans of movements, of the same days as a chart's times
 */
export function priceNotes(
  visit: ShopVisit,
  spans: readonly Readonly<Record<'expansion' | 'contraction' | 'opening', number>>[],
): Chart['notes'] {
  const money = signedFormat(moneyFormat(visit));
  const notes = spans.map(({ expansion, contraction, opening }) =>
    expansion + contraction > opening * minChanged
      ? `Prices changed: ${money(expansion - contraction)} MRR`
      : undefined,
  );
  return notes.some((note) => note !== undefined) ? notes : undefined;
}

/** The part of the times up to which imports are marked; marks of more would not stand out. */
const maxMarked = 0.25;

/** A chart over the days of a period, with marks of what happened to the shop beside its business. */
export async function withEvents(sql: Sql, visit: ShopVisit, chart: Chart): Promise<Chart> {
  const { times, grains, notes: known = [] } = chart;
  const [from, until] = [times[0]?.first, times.at(-1)?.last].map((each) => Date.parse(each ?? ''));
  if (grains === undefined || from === undefined || until === undefined) return chart;
  const events = await listEvents(sql, visit.shop.id, { from, until: until + day });
  const within = times.map(({ first, last }) =>
    events.filter(({ at }) => isoDay(at.getTime()) >= first && isoDay(at.getTime()) <= last),
  );
  const imported = within.map((some) => some.filter(({ kind }) => kind === 'import'));
  const areImportsRare =
    imported.filter(({ length }) => length > 0).length <= times.length * maxMarked;
  const notes = within.map((some, index) => {
    const records = (imported[index] ?? []).reduce((sum, { detail }) => sum + Number(detail), 0);
    return [
      known[index],
      areImportsRare && records > 0 && `Imported: ${countOf(visit, records, 'record')}`,
      ...some.map(({ kind, detail }) => kind === 'alert' && `Alert: ${detail}`),
    ]
      .filter(Boolean)
      .join(' · ');
  });
  return notes.some(Boolean) ? { ...chart, notes: notes.map((note) => note || undefined) } : chart;
}
