const missing: string[] = [];

export const print = (line = '') => process.stdout.write(`${line}\n`);

/** Prints a heading, and gives what prints one row under it. The first column is text. */
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

/** A figure for people; a dash where it is not known. */
export function figure(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Says what could not be measured, at once and again at the end. */
export function sayNotMeasured(what: string, why: string): void {
  const line = `NOT MEASURED: ${what}. ${why}`;
  missing.push(line);
  print(line);
}

/** Repeats all that could not be measured. */
export function printNotMeasured(): void {
  print();
  for (const line of missing) print(line);
  if (missing.length === 0) print('All of it was measured.');
}
