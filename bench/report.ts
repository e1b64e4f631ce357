const missing: string[] = [];

export const print = (line = '') => process.stdout.write(`${line}\n`);

/** Prints the header and returns a function that prints one row. The first column is text. */
export function beginTable(columns: readonly string[]): (...cells: readonly string[]) => void {
  const [first = '', ...others] = columns.map((column, index) =>
    index === 0 ? column.padEnd(32) : column.padStart(Math.max(8, column.length + 2)),
  );
  const widths = [first, ...others].map((column) => column.length);
  print([first, ...others].join(''));
  return (...cells) =>
    print(
      cells
        .map((cell, index) => {
          const width = widths[index] as number;
          return index === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join(''),
    );
}

/** A number for display; a dash if it is unknown. */
export function figure(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Reports what could not be measured, now and again at the end. */
export function printNotMeasured(what: string, why: string): void {
  const line = `NOT MEASURED: ${what}. ${why}`;
  missing.push(line);
  print(line);
}

/** Repeats everything that could not be measured. */
export function printMissing(): void {
  print();
  for (const line of missing) print(line);
  if (missing.length === 0) print('Everything was measured.');
}
