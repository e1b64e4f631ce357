import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { CommandError } from '../errors.ts';
import { displayText } from './field-reader.ts';
import { type Row, maxRowBytes } from './rows.ts';

export interface CsvFormat {
  readonly delimiter: string;
  readonly quote: string;
  /** True if the first row names the columns, otherwise their names. */
  readonly header: true | readonly string[];
  /** How many lines are above the table. */
  readonly skipLines: number;
}

/** A first line that tells Excel the delimiter. It is never part of the table. */
export const delimiterLine = /^"?sep=(.)"?[,;\t]*\r?$/i;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

interface Parsed {
  readonly record: readonly string[];
  /** Verbatim, with the blank lines before it. A CRLF line end is cut after its first character. */
  readonly raw: string;
}

/**
 * Reads the rows of a CSV file in bounded memory. Quotes inside a value that does not start with
 * one are literal. A row with more or fewer values than there are columns is a problem.
 * @param columns the required columns
 * @param choices of each, the file must have all the columns of at least one alternative
 * @throws CommandError if a required column is missing, or a quoted value does not end
 */
export async function* readCsv(
  file: string,
  bytes: AsyncIterable<Buffer>,
  { delimiter, quote, header, skipLines }: CsvFormat,
  columns: readonly string[],
  choices: readonly Choice[] = [],
): AsyncGenerator<Row[]> {
  let line = 1;
  let parsedBytes = 0;
  let rows: Row[] = [];
  let indexes = header === true ? undefined : indexColumns(file, header, columns, choices);
  const parser = parse({
    delimiter: Buffer.from(delimiter),
    quote: Buffer.from(quote),
    escape: Buffer.from(quote),
    // One character per byte, so that invalid UTF-8 matters only in required columns.
    encoding: 'latin1',
    raw: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    // Collected here, since an error would discard rows that the parser had not emitted yet.
    on_record(parsed: unknown, { bytes_records: bytesParsed }) {
      const { record, raw } = parsed as Parsed;
      parsedBytes = bytesParsed;
      const firstLine = line + countLines(/^[\r\n]*/.exec(raw)?.[0] ?? '');
      line += countLines(raw);
      // Programs write rows of delimiters alone below a table.
      if (record.every((value) => value.trim() === '')) return null;
      if (indexes) rows.push(rowOf(firstLine, record, indexes));
      else indexes = indexColumns(file, record.map(nameOf), columns, choices);
      return null;
    },
  });
  const unterminated = () =>
    new CommandError(
      `${file}:${line}: the row that starts here does not end; is a closing quote missing, or another character used for quotes? Earlier records may have been stored.`,
    );
  const tooLong = () =>
    new CommandError(
      `${file}:${line}: the row that starts here is longer than ${maxRowBytes} bytes; if it should not be, a closing quote is missing, or another character is used for quotes. Earlier records may have been stored.`,
    );
  let failure: Error | undefined;
  parser.on('error', (error) => (failure ??= error)).resume();

  let readBytes = 0;
  const table = withoutLead(bytes, skipLines, (lines) => (line += lines));
  for await (const chunk of table) {
    // Parses synchronously, and without output, so there is no need to wait for a drain.
    parser.write(chunk);
    readBytes += chunk.length;
    if (rows.length > 0) yield rows;
    rows = [];
    if (failure) throw failure;
    if (readBytes - parsedBytes > maxRowBytes) throw tooLong();
  }
  const ended = finished(parser);
  parser.end();
  const error = await ended.catch((reason: unknown) => reason);
  if (rows.length > 0) yield rows;
  if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') throw unterminated();
  if (error !== undefined) throw error;
}

/**
 * Leaves out a byte order mark, the lines above a table, and a first line such as "sep=;".
 * @param skipped called with the number of lines that were left out
 */
async function* withoutLead(
  bytes: AsyncIterable<Buffer>,
  skipLines: number,
  skipped: (lines: number) => void,
): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  /** How many lines are still to be left out; not known until the first line is whole. */
  let left: number | undefined;
  const begin = () => {
    if (head.subarray(0, 3).equals(byteOrderMark)) head = head.subarray(3);
    const first = head.subarray(0, Math.max(0, head.indexOf('\n'))).toString('latin1');
    left = Math.max(skipLines, delimiterLine.test(first) ? 1 : 0);
    skipped(left);
  };
  for await (const chunk of bytes) {
    if (left === 0) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (left === undefined) {
      if (!head.includes('\n') && head.length <= maxRowBytes) continue;
      begin();
    }
    while (left && head.length > 0) {
      const end = head.indexOf('\n');
      if (end !== -1) left -= 1;
      head = end === -1 ? Buffer.alloc(0) : head.subarray(end + 1);
    }
    if (head.length > 0) yield head;
    head = Buffer.alloc(0);
  }
  if (left === undefined) begin();
  if (left === 0 && head.length > 0) yield head;
}

/** Alternatives for a field, each with the columns that it reads. */
export type Choice = readonly (readonly string[])[];

/** The columns that a file must have. */
export interface NeededColumns {
  readonly required: readonly string[];
  /** Fields with several sources, of each of which one is enough. */
  readonly choices: readonly Choice[];
}

/** More than any spreadsheet has (16,384 in Excel). */
const maxColumns = 20_000;
/** How many column names a message has. */
const namedColumns = 50;

interface ColumnIndexes {
  readonly names: readonly string[];
  readonly byName: ReadonlyMap<string, number>;
}

function indexColumns(
  file: string,
  names: readonly string[],
  required: readonly string[],
  choices: readonly Choice[],
): ColumnIndexes {
  if (names.length > maxColumns) {
    const [count, max] = [names.length, maxColumns].map((each) => each.toLocaleString('en'));
    throw new CommandError(
      `${file} has ${count} columns, and at most ${max} are read; is the delimiter right?`,
    );
  }
  const missing = required.filter((name) => !names.includes(name));
  const used = [...new Set([...required, ...choices.flat(2)])];
  const duplicates = used.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  // A first row with none of them may be data, so its values are not shown.
  const hint = used.some((name) => names.includes(name))
    ? `Its columns are ${quoted(names)}.`
    : 'If its first row does not name the columns, list them in input.header.';
  if (missing.length > 0) {
    throw new CommandError(
      `${file} has no column ${quoted(missing)}, which the mapping names. ${hint}`,
    );
  }
  for (const choice of choices) {
    if (choice.some((columns) => columns.every((name) => names.includes(name)))) continue;
    const options = choice.map((columns) => columns.map((name) => `"${name}"`).join(' and '));
    throw new CommandError(
      `${file} has no column ${options.join(' or ')}, of which the mapping needs one. ${hint}`,
    );
  }
  if (duplicates.length > 0) {
    throw new CommandError(
      `${file} has more than one column ${quoted(duplicates)}; give each its own name.`,
    );
  }
  return { names, byName: new Map(names.map((name, index) => [name, index])) };
}

function quoted(names: readonly string[]): string {
  const first = names.slice(0, namedColumns).map((name) => `"${displayText(name)}"`);
  return [...first, ...(names.length > namedColumns ? ['and others'] : [])].join(', ');
}

function nameOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8').trim();
}

/** @throws TypeError for invalid UTF-8 */
function decode(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : decoder.decode(Buffer.from(bytes, 'latin1'));
}

function rowOf(line: number, record: readonly string[], { names, byName }: ColumnIndexes): Row {
  const count = names.length;
  if (record.length !== count) {
    return {
      line,
      problem: `the row has ${record.length} values, but there are ${count} columns; does an unquoted value contain the delimiter?`,
    };
  }
  return {
    line,
    values: {
      line,
      names,
      get(column) {
        const bytes = record[byName.get(column) ?? -1];
        return bytes && decode(bytes);
      },
      text: () => JSON.stringify(record),
    },
  };
}

function countLines(raw: string): number {
  return raw.match(/\r\n|\r|\n/g)?.length ?? 0;
}
