import { visible } from '../../log/visible.ts';

/** Times are shown in ISO 8601, and null and undefined as nothing. */
type Cell = string | number | Date | null | undefined;

/** The columns of a table: the heading of each, and its cell for a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Formats rows in aligned columns, below their headings. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => visible(shown(cell(row)))));
  const lines = [Object.keys(columns), ...cells];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(cell: Cell): string {
  return cell instanceof Date ? cell.toISOString() : String(cell ?? '');
}
