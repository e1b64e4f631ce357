import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ReadOptions, openBytes } from '../ingest/files.ts';
import type { LineSource } from '../ingest/import.ts';
import { readLines } from '../ingest/lines.ts';
import { readCsv } from './csv.ts';
import { readJsonList } from './json-list.ts';
import { type SkippedRows, mapRows } from './lines.ts';
import { type RecordMaker, createRecordMaker } from './records.ts';
import { type Row, jsonRow } from './rows.ts';
import type { Mapping } from './schema.ts';

export interface MappedOptions extends ReadOptions {
  /** When the files were exported, if the mapping does not know that. */
  readonly asOf?: Date | undefined;
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
  const options = { shop, clock, asOf: reading?.asOf };
  const makers = mapping.records.map((spec) => createRecordMaker(spec, mapping, options));
  return { name: file, lines: mapRows(readRows(file, mapping, makers, reading), makers, skipped) };
}

function readRows(
  file: string,
  { input }: Mapping,
  makers: readonly RecordMaker[],
  reading?: ReadOptions,
): AsyncGenerator<Row[]> {
  const bytes = openBytes(file, reading);
  switch (input.format) {
    case 'csv':
      return readCsv(file, bytes, input, [...new Set(makers.flatMap(({ columns }) => columns))]);
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
