import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { visible } from '../../log/visible.ts';
import { systemClock } from '../../clock.ts';

/** What commands use of their process. Tests run commands with another one, in their own process. */
export interface Io {
  readonly stdin: Readable;
  /** Holds only results. */
  readonly stdout: Writable & { readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** @throws UsageError if `.env` cannot be used */
  environment(): NodeJS.ProcessEnv;
  openLog(level: string): Log;
  /** Resolves with the first signal that asks the process to stop. */
  stopSignal(): Promise<NodeJS.Signals>;
  /** Lowers the priority of this process. */
  giveWay(): void;
}

/** Prints a result for people. */
export function print({ stdout }: Io, text: string): void {
  stdout.write(`${visibleLines(text)}\n`);
}

/** Prints a long result for programs, as fast as its reader reads, which need not read all of it (`head`). */
export async function printAll(
  { stdout }: Io,
  texts: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  try {
    await pipeline(Readable.from(texts), stdout, { end: false });
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  }
}

/** Prints a result for programs, with all characters as they are. */
export function printJson({ stdout }: Io, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints a notice or an error to standard error. */
export function tell({ stderr }: Io, text: string): void {
  stderr.write(`${visibleLines(text)}\n`);
}

function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Failures of standard output that a command deals with itself. */
const expected = new WeakSet<Error>();

/** Whether nothing deals with a failure of standard output. A command finishes even if its reader is gone (EPIPE). */
export function isUnexpected(error: Error): boolean {
  return !isReaderGone(error) && !expected.has(error);
}

/** Whether writing failed because the reader closed our output (EPIPE). */
function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/**
 * Prints a secret, which is shown only once, and waits until it is written.
 * @throws CommandError if it cannot be
 */
export async function printSecret({ stdout }: Io, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
  stdout.write(`${text}\n`, (error) => {
    if (error) expected.add(error);
    resolve(error);
  });
  const error = await promise;
  if (!error) return;
  throw new CommandError(
    `Standard output cannot be written, so the secret would be lost, and nothing was changed: ${error.message}.`,
    { cause: error },
  );
}

/** Times are shown in ISO 8601, and null and undefined as nothing. */
type Cell = string | number | Date | null | undefined;

/** The columns of a table: the heading of each, and its cell for a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Formats rows in aligned columns, below their headings. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cells = Object.values(columns);
  return aligned([Object.keys(columns), ...rows.map((row) => cells.map((cell) => cell(row)))]);
}

/** Lines in columns; the first has the heads. */
export function aligned(lines: readonly (readonly Cell[])[]): string {
  const texts = lines.map((line) => line.map((cell) => visible(shown(cell))));
  const widths = texts[0]?.map((_, column) =>
    Math.max(...texts.map((line) => line[column]?.length ?? 0)),
  );
  return texts
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths?.[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(cell: Cell): string {
  return cell instanceof Date ? cell.toISOString() : String(cell ?? '');
}

const intervalMilliseconds = 200;

export interface Progress {
  show(count: number): void;
  /** Makes room for other output. */
  clear(): void;
}

/**
 * Shows progress on one line of standard error; does nothing if that is not a terminal.
 * @param share how much of all work is done, between 0 and 1; undefined if that is not known
 */
export function createProgress(
  { stderr }: Io,
  unit: string,
  share?: () => number | undefined,
): Progress {
  if (!stderr.isTTY) return { show() {}, clear() {} };
  const begin = systemClock.monotonic();
  let last = 0;
  return {
    show(count) {
      const now = systemClock.monotonic();
      if (now - last < intervalMilliseconds) return;
      last = now;
      const text = describeProgress({
        count,
        unit,
        seconds: (now - begin) / 1000,
        share: share?.(),
      });
      stderr.write(`\r${text}\x1b[K`);
    },
    clear() {
      if (last > 0) stderr.write('\r\x1b[K');
    },
  };
}

interface State {
  readonly count: number;
  readonly unit: string;
  readonly seconds: number;
  readonly share: number | undefined;
}

export function describeProgress({ count, unit, seconds, share }: State): string {
  const rate = Math.round(count / seconds).toLocaleString('en');
  const percent = share === undefined ? '' : `, ${Math.floor(share * 100)}%`;
  return `${count.toLocaleString('en')} ${unit}, ${rate} a second${percent}`;
}
