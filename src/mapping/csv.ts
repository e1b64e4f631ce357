import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { CommandError } from '../errors.ts';
import { type Row, maxRowBytes } from './rows.ts';

export interface CsvFormat {
  readonly delimiter: string;
  readonly quote: string;
  /** Whether the first row names the columns, or else their names. */
  readonly header: true | readonly string[];
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

interface Parsed {
  readonly record: readonly string[];
  /** As it stands, blank lines before it too; of a line end of two characters it has the first. */
  readonly raw: string;
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
  let rows: Row[] = [];
  let places = header === true ? undefined : placesOf(file, header, columns);
  const parser = parse({
    delimiter: Buffer.from(delimiter),
    quote: Buffer.from(quote),
    escape: Buffer.from(quote),
    // One character for each byte: what is not UTF-8 harms a row only if it is needed.
    encoding: 'latin1',
    raw: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    // Taken here, rows before an error are not lost with it; the parser itself gives none out.
    on_record(parsed: unknown, { bytes_records: bytesUntilHere }) {
      const { record, raw } = parsed as Parsed;
      doneBytes = bytesUntilHere;
      const begin = line + countLines(/^[\r\n]*/.exec(raw)?.[0] ?? '');
      line += countLines(raw);
      if (places) rows.push(rowOf(begin, record, places));
      else places = placesOf(file, record.map(nameOf), columns);
      return null;
    },
  });
  const endless = () =>
    new CommandError(
      `${file}:${line}: a row begins here that does not end; is a quote missing, or the mapping's quote another one? Records from before it may be stored.`,
    );
  let failure: Error | undefined;
  parser.on('error', (error) => (failure ??= error)).resume();

  let given = 0;
  for await (const chunk of bytes) {
    const isMarked = given === 0 && chunk.subarray(0, 3).equals(byteOrderMark);
    // Parsed at once: its output is read by the parser itself.
    parser.write(isMarked ? chunk.subarray(3) : chunk);
    given += chunk.length;
    if (rows.length > 0) yield rows;
    rows = [];
    if (failure) throw failure;
    if (given - doneBytes > maxRowBytes) throw endless();
  }
  const ended = finished(parser);
  parser.end();
  const error = await ended.catch((reason: unknown) => reason);
  if (rows.length > 0) yield rows;
  if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') throw endless();
  if (error !== undefined) throw error;
}

interface Places {
  readonly count: number;
  readonly byName: ReadonlyMap<string, number>;
}

function placesOf(file: string, names: readonly string[], needed: readonly string[]): Places {
  const missing = needed.filter((name) => !names.includes(name));
  const twice = needed.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (missing.length > 0) {
    // A first row that has none of them may be a customer's.
    const isHeader = missing.length < needed.length;
    const instead = isHeader
      ? `Its columns are ${quoted(names)}.`
      : 'Is its first row the names of the columns? Else name them in input.header.';
    throw new CommandError(
      `${file} has no column ${quoted(missing)}, which the mapping names. ${instead}`,
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

function nameOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8').trim();
}

/** @throws TypeError for what is not UTF-8 */
function decode(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : decoder.decode(Buffer.from(bytes, 'latin1'));
}

function rowOf(line: number, record: readonly string[], { count, byName }: Places): Row {
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
        return bytes && decode(bytes);
      },
    },
  };
}

function countLines(raw: string): number {
  return raw.match(/\r\n|\r|\n/g)?.length ?? 0;
}
