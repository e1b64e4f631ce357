import type { ImportCounts } from '../../ingest/import.ts';
import { formatTable } from '../command.ts';

const columns = ['stored', 'replaced', 'deleted', 'unchanged', 'stale', 'refused'] as const;

export function describeCounts(counts: ImportCounts): string {
  const rows = Object.entries(counts).map(([type, each]) => [
    type,
    ...columns.map((column) => String(each[column])),
  ]);
  if (rows.length === 0) return 'There was nothing to import.';
  return formatTable(
    ['type', ...columns].map((name) => name.toUpperCase()),
    rows,
  );
}

export function describeSkipped(rows: number): string {
  return rows === 1
    ? '1 row matched no rule and was skipped.'
    : `${rows} rows matched no rule and were skipped.`;
}
