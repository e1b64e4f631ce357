import type { ImportCounts } from '../../ingest/import.ts';
import type { Shrinkage, SnapshotOutcome } from '../../ingest/snapshot.ts';
import { type Columns, table } from '../framework/table.ts';
import type { Figures } from './rehearsal.ts';

const outcomes = ['stored', 'replaced', 'deleted', 'unchanged', 'stale', 'refused'] as const;

type Counted = readonly [type: string, counts: Readonly<Record<(typeof outcomes)[number], number>>];

const columns: Columns<Counted> = {
  TYPE: ([type]) => type,
  ...Object.fromEntries(
    outcomes.map((name) => [name.toUpperCase(), ([, counts]: Counted) => counts[name]]),
  ),
};

export function describeCounts(counts: ImportCounts, isInterrupted = false): string {
  const rows: readonly Counted[] = Object.entries(counts);
  if (rows.length > 0) return table(rows, columns);
  return isInterrupted ? 'Nothing was imported yet.' : 'There was nothing to import.';
}

export function describeSkipped(rows: number): string {
  return rows === 1
    ? '1 row matched no rule and was skipped.'
    : `${rows} rows matched no rule and were skipped.`;
}

/** The figures before and after an import. */
export function describeFigures({ before, after }: Figures): string {
  const { generatedAt: _at, currency: _currency, ...figures } = before;
  const names = Object.keys(figures) as (keyof typeof figures)[];
  return table(names, {
    FIGURE: (name) => name,
    BEFORE: (name) => before[name],
    AFTER: (name) => after[name],
  });
}

/** What a snapshot did beside what its counts say, as sentences. */
export function describeSnapshot(outcome: SnapshotOutcome): string[] {
  if (outcome.kind === 'shrunk') {
    return [
      `Nothing was deleted: ${describeShrinkage(outcome.shrunk)}, more than a fifth. If the input is complete, run the command again with --allow-shrink; otherwise with a complete one.`,
    ];
  }
  if (outcome.kind === 'unreadable') {
    const { lines, first } = outcome;
    const what = lines === 1 ? `${first} has` : `${lines} lines, the first of them ${first}, have`;
    return [
      `Nothing was deleted: ${what} no id that can be read, so any record may be in the input.`,
    ];
  }
  const { plansInUse, newer } = outcome;
  return [
    ...(plansInUse > 0
      ? [`${countOf(plansInUse, 'plan')} not in the input but kept: subscriptions are on them.`]
      : []),
    ...(newer > 0
      ? [`${countOf(newer, 'record')} not in the input but kept: they are newer than the export.`]
      : []),
  ];
}

function describeShrinkage(shrunk: readonly Shrinkage[]): string {
  const gone = shrunk.map((each) => `${each.gone} of ${each.before} ${each.type}s`);
  return `${new Intl.ListFormat('en-GB').format(gone)} are not in the input`;
}

function countOf(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}
