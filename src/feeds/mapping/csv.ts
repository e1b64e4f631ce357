import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { CommandError } from '../../errors.ts';
import { type Row, maxRowBytes } from './rows.ts';

export interface CsvFormat {
  readonly delimiter: string;
  readonly quote: string;
  /** Whether the first row names the columns, or else their names. */
  readonly header: true | readonly string[];
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
/** How far the parser may be behind what it was given. */
const slack = 1024 * 1024;
const rowsAtOnce = 500;
const newline = 0x0a;
const carriageReturn = 0x0d;

interface Parsed {
  readonly record: readonly Buffer[];
  /** The row as it stands, blank lines before it too, without the last byte where lines end in two. */
  readonly raw: Uint8Array;
}

/**
 * The rows of a CSV file, in a bounded amount of memory. Quotes inside of a value that does not begin with
 * one are taken as they are; a row with more or fewer values than there are columns is a problem.
 * @param columns those that are needed
 * @throws CommandError where a needed column is missing, or a quoted value does not end
 */
export async function* readCsv(
  file: string,
  bytes: AsyncIterable<Buffer>,
  { delimiter, quote, header }: CsvFormat,
  columns: readonly string[],
): AsyncGenerator<Row[]> {
  let line = 1;
  let doneBytes = 0;
  const parser = parse({
    delimiter,
    quote,
    escape: quote,
    // Bytes, so that a value that is not UTF-8 harms only the row that it is needed of.
    encoding: null,
    raw: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const endless = () =>
    new CommandError(
      `${file}:${line}: a row begins here that does not end; is a quote missing, or the mapping's quote another one? Records from before it may be stored.`,
    );
  async function* bounded() {
    let isFirst = true;
    let given = 0;
    for await (const chunk of bytes) {
      const marked = isFirst && chunk.subarray(0, 3).equals(byteOrderMark);
      isFirst = false;
      given += chunk.length;
      if (given - doneBytes > maxRowBytes + slack + chunk.length) throw endless();
      yield marked ? chunk.subarray(3) : chunk;
    }
  }
  // Whoever reads the parser sees the error.
  pipeline(bounded(), parser, () => {});

  let places = header === true ? undefined : placesOf(file, header, columns);
  let batch: Row[] = [];
  try {
    for await (const { record, raw } of parser as AsyncIterable<unknown> as AsyncIterable<Parsed>) {
      doneBytes = parser.info.bytes;
      const text = raw.findIndex((code) => code !== newline && code !== carriageReturn);
      const begin = line + countLines(raw.subarray(0, text));
      line += countLines(raw);
      if (places === undefined) {
        places = placesOf(file, record.map(nameOf), columns);
        continue;
      }
      batch.push(rowOf(begin, record, places));
      if (batch.length < rowsAtOnce) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (batch.length > 0) yield batch;
    if ((error as { code?: unknown }).code === 'CSV_QUOTE_NOT_CLOSED') throw endless();
    throw error;
  }
  if (batch.length > 0) yield batch;
}

interface Places {
  readonly count: number;
  readonly byName: ReadonlyMap<string, number>;
}

function placesOf(file: string, names: readonly string[], needed: readonly string[]): Places {
  const missing = needed.filter((name) => !names.includes(name));
  const twice = needed.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (missing.length > 0) {
    throw new CommandError(
      `${file} has no column ${quoted(missing)}, which the mapping names. Its columns are ${quoted(names)}.`,
    );
  }
  if (twice.length > 0) {
    throw new CommandError(
      `${file} has more than one column ${quoted(twice)}; give each its own name.`,
    );
  }
  return { count: names.length, byName: new Map(names.map((name, index) => [name, index])) };
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function nameOf(bytes: Buffer): string {
  return bytes.toString('utf8').trim();
}

function rowOf(line: number, record: readonly Buffer[], { count, byName }: Places): Row {
  if (record.length !== count) {
    return {
      line,
      problem: `the row has ${record.length} values, and there are ${count} columns; is a value with a delimiter in it not quoted?`,
    };
  }
  return {
    line,
    values: {
      get(column) {
        const bytes = record[byName.get(column) ?? -1];
        return bytes && decoder.decode(bytes);
      },
    },
  };
}

function countLines(raw: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const code = raw[at];
    if (code === newline || (code === carriageReturn && raw[at + 1] !== newline)) count += 1;
  }
  return count;
}
