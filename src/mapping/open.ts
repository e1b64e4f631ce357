import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ReadOptions, openBytes } from '../ingest/files.ts';
import type { LineSource } from '../ingest/import.ts';
import { type Line, readLines } from '../ingest/lines.ts';
import { type NeededColumns, readCsv } from './csv.ts';
import { toUtf8 } from './encoding.ts';
import { readJsonList } from './json-list.ts';
import {
  type Made,
  type MakerOptions,
  type RecordMaker,
  createRecordMaker,
  viewOf,
} from './records.ts';
import { type ReadRow, type Row, jsonRow, jsonValues } from './rows.ts';
import type { Mapping } from './schema.ts';
import { records } from '../records/records.ts';
import { ownNumber } from '../own-number.ts';
import { displayText, plainText, quotedValue } from './field-reader.ts';

export interface MappedOptions extends ReadOptions {
  /** The shop's. */
  readonly customerKey: string;
  /** When the files were exported, in epoch milliseconds, if the mapping does not know that. */
  readonly asOf?: number | undefined;
}

/**
 * Opens another platform's file as a source of import records. File names are as in openSource.
 * @param clock the importer's
 */
export function openMapped(
  file: string,
  mapping: Mapping,
  shop: ImportShop,
  clock: Clock,
  skipped: SkippedRows,
  reading: MappedOptions,
): LineSource {
  const { asOf, customerKey } = reading;
  const makers = createMakers(mapping, { shop, customerKey, clock, asOf });
  const rows = readRows(file, openBytes(file, reading), mapping.input, columnsOf(makers));
  return { name: file, lines: mapRows(rows, makers, skipped) };
}

/** What makes the records of a mapping. */
export function createMakers(mapping: Mapping, options: MakerOptions): readonly RecordMaker[] {
  const view = viewOf(mapping, options);
  return mapping.records.map((spec) => createRecordMaker(spec, mapping, options, view));
}

/** The columns that a mapping needs. */
export function columnsOf(makers: readonly RecordMaker[]): NeededColumns {
  return {
    required: [...new Set(makers.flatMap(({ requiredColumns }) => requiredColumns))],
    choices: makers.flatMap(({ choices }) => choices),
  };
}

/**
 * Reads the rows of a file in any format.
 * @param columns of CSV files: those that must be there
 */
export function readRows(
  file: string,
  encoded: AsyncIterable<Buffer>,
  input: Mapping['input'],
  columns: NeededColumns,
): AsyncGenerator<Row[]> {
  const bytes = toUtf8(encoded, input.encoding);
  switch (input.format) {
    case 'csv':
      return readCsv(file, bytes, input, columns.required, columns.choices);
    case 'ndjson':
      return readNdjson(bytes);
    case 'json':
      return readJsonList(file, bytes, pathOf(input.list));
    case 'any':
      return readAny(file, bytes, pathOf(input.list));
  }
}

const pathOf = (list: string) => (list === '' ? [] : list.split('.'));

/** Enough to tell the formats apart. */
const headBytes = 64 * 1024;

/** Reads CSV, JSON objects a line each, a JSON list or a single object, whichever a file has. */
async function* readAny(
  file: string,
  bytes: AsyncIterable<Buffer>,
  path: readonly string[],
): AsyncGenerator<Row[]> {
  const chunks = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < headBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  async function* whole() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const [first = '', second = ''] = head.toString('utf8').trimStart().split(/\r?\n/, 2);
  if (!/^[[{]/.test(first)) {
    return yield* readCsv(
      file,
      whole(),
      { delimiter: ',', quote: '"', header: true, skipLines: 0 },
      [],
    );
  }
  if (first.startsWith('[')) return yield* readJsonList(file, whole(), []);
  if (!second.startsWith('{') || 'problem' in jsonRow(1, first))
    return yield* readJsonList(file, whole(), path, { orWhole: true });
  for await (const rows of readNdjson(whole())) {
    yield rows.flatMap((row) => ('values' in row ? entriesOf(row, path.join('.')) : row));
  }
}

/** The entries of a list in a line. */
function entriesOf(row: ReadRow, path: string): readonly Row[] {
  const list = path === '' ? undefined : row.values.get(path);
  if (!Array.isArray(list)) return [row];
  return list.map((entry) => ({ line: row.line, values: jsonValues(entry, row.line) }));
}

async function* readNdjson(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  for await (const lines of readLines(bytes)) {
    yield lines.map(({ number, text, problem }) =>
      problem === undefined ? jsonRow(number, text) : { line: number, problem },
    );
  }
}

/** One more than become lines, so that groups with too many are refused. */
const maxGroupRows = records.subscription.fields.lines.max + 1;
/** How many distinct plans are remembered, so that repeated ones are skipped. */
const maxRememberedPlans = 10_000;

/** How many rows matched no rule of the mapping. */
export interface SkippedRows {
  rows: number;
}

/** Converts rows to lines of import records. Each line includes the columns it was made from. */
export async function* mapRows(
  rows: AsyncIterable<readonly Row[]>,
  makers: readonly RecordMaker[],
  skipped: SkippedRows,
): AsyncGenerator<Line[]> {
  const steps = makers.map((maker) =>
    maker.group === undefined ? singleRows(maker) : groupedRows(maker, maker.group),
  );
  for await (const chunk of rows) {
    const lines: Line[] = [];
    for (const row of chunk) {
      const isTaken = steps.map((step) => step.take(row, lines)).includes(true);
      if ('problem' in row) lines.push(unreadable(row.line, row.problem, makers));
      else if (!isTaken) skipped.rows += 1;
    }
    if (lines.length > 0) yield lines;
  }
  const last: Line[] = [];
  for (const step of steps) step.end(last);
  if (last.length > 0) yield last;
}

/** Makes records of one type from a sequence of rows. */
interface Step {
  /** Returns whether the row is part of a record. */
  take(row: Row, lines: Line[]): boolean;
  end(lines: Line[]): void;
}

function singleRows(maker: RecordMaker): Step {
  const isNew = maker.type === 'plan' ? createPlanFilter() : () => true;
  return {
    take(row, lines) {
      if ('problem' in row || !maker.applies(row.values)) return false;
      const made = maker.make([row]);
      if ('problem' in made || isNew(made.record)) lines.push(lineOf(maker, [row], made));
      return true;
    },
    end() {},
  };
}

/** Many rows describe the same plan, which needs to be stored only once. */
function createPlanFilter(): (record: object) => boolean {
  let made = new Set<number>();
  return (record) => {
    // A plan may have 100,000 products, so that texts would take gigabytes.
    const digest = ownNumber(JSON.stringify(record));
    if (made.has(digest)) return false;
    if (made.size === maxRememberedPlans) made = new Set();
    made.add(digest);
    return true;
  };
}

interface Group {
  readonly key: string;
  readonly rows: ReadRow[];
  problem: string | undefined;
}

/** Makes one record from consecutive rows with the same value in a column. */
function groupedRows(maker: RecordMaker, column: string): Step {
  /** A 52-bit hash of the key of each group so far. */
  const seen = new Set<number>();
  let group: Group | undefined;
  let unreadableLine: number | undefined;

  const finish = (lines: Line[]) => {
    const first = group?.rows[0];
    if (!group || !first) return;
    if (maker.applies(first.values)) {
      const { problem } = group;
      lines.push(
        lineOf(maker, group.rows, problem === undefined ? maker.make(group.rows) : { problem }),
      );
    }
    group = undefined;
  };
  const begin = (key: string, row: ReadRow) => {
    group = { key, rows: [row], problem: undefined };
    const number = ownNumber(key);
    if (key === '') group.problem = `column ${column} is empty, but rows are grouped by it`;
    else if (seen.has(number)) {
      group.problem = `column ${column}: ${quotedValue(key)} has earlier rows, whose record was made without this one; sort the file by ${column}`;
    } else if (unreadableLine !== undefined) group.problem = gap(unreadableLine);
    seen.add(number);
  };

  return {
    take(row, lines) {
      if ('problem' in row) {
        if (group) group.problem ??= gap(row.line);
        unreadableLine = row.line;
        return false;
      }
      const key = plainText(row.values, column);
      if (group && group.key === key && key !== '') {
        group.problem ??= differenceOf(maker, group.rows[0] as ReadRow, row);
        if (group.rows.length < maxGroupRows) group.rows.push(row);
      } else {
        finish(lines);
        begin(key, row);
      }
      unreadableLine = undefined;
      return group !== undefined && maker.applies((group.rows[0] as ReadRow).values);
    },
    end: finish,
  };
}

function gap(line: number): string {
  return `line ${line}, which may be one of its rows, cannot be read`;
}

/** Describes a shared column in which a row of a group contradicts the first row. */
function differenceOf(maker: RecordMaker, first: ReadRow, row: ReadRow): string | undefined {
  for (const column of maker.sharedColumns) {
    const text = plainText(row.values, column);
    const before = plainText(first.values, column);
    if (text !== '' && text !== before) {
      return `line ${row.line}: column ${column}: ${quotedValue(text)} must be empty or ${quotedValue(before)}, as in line ${first.line}`;
    }
  }
  return undefined;
}

function lineOf(maker: RecordMaker, rows: readonly ReadRow[], made: Made): Line {
  const number = rows[0]?.line ?? 0;
  const from = rows.map(({ line, values }) => ({
    line,
    columns: Object.fromEntries(
      maker.columns.map((column) => [column, displayText(maker.textOf(values, column))]),
    ),
  }));
  const sourceId = rows[0] && maker.sourceIdOf(rows[0].values);
  if ('record' in made) {
    const { record, warning } = made;
    return { number, text: JSON.stringify({ ...record, rows: from }), warning, sourceId };
  }
  const text = JSON.stringify({ type: maker.type, rows: from });
  const recordId = rows[0] && maker.idOf(rows[0].values);
  return { number, text, problem: made.problem, countsAs: maker.type, recordId, sourceId };
}

/** Only the line number of such a row is kept, since its content could be anything. */
function unreadable(number: number, problem: string, makers: readonly RecordMaker[]): Line {
  const [only, another] = makers;
  return {
    number,
    text: JSON.stringify({ rows: [{ line: number }] }),
    problem,
    ...(only && !another && { countsAs: only.type }),
  };
}
