import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ReadOptions, openBytes } from '../ingest/files.ts';
import type { LineSource } from '../ingest/import.ts';
import { readLines } from '../ingest/lines.ts';
import { type NeededColumns, readCsv } from './csv.ts';
import { toUtf8 } from './encoding.ts';
import { readJsonList } from './json-list.ts';
import { type SkippedRows, mapRows } from './lines.ts';
import { type MakerOptions, type RecordMaker, createRecordMaker } from './records.ts';
import { type Row, jsonRow } from './rows.ts';
import type { Mapping } from './schema.ts';

export interface MappedOptions extends ReadOptions {
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
  reading?: MappedOptions,
): LineSource {
  const makers = createMakers(mapping, { shop, clock, asOf: reading?.asOf });
  const rows = readRows(file, openBytes(file, reading), mapping.input, columnsOf(makers));
  return { name: file, lines: mapRows(rows, makers, skipped) };
}

/** What makes the records of a mapping. */
export function createMakers(mapping: Mapping, options: MakerOptions): readonly RecordMaker[] {
  return mapping.records.map((spec) => createRecordMaker(spec, mapping, options));
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
      return readJsonList(file, bytes, input.list === '' ? [] : input.list.split('.'));
  }
}

async function* readNdjson(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  for await (const lines of readLines(bytes)) {
    yield lines.map(({ number, text, problem }) =>
      problem === undefined ? jsonRow(number, text) : { line: number, problem },
    );
  }
}
