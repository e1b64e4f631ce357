import { isObject } from '../../../json.ts';
import { type Line, readLines } from '../../../ingest/lines.ts';
import { lineTypes } from '../../../records/records.ts';
import { toUtf8 } from '../../../mapping/encoding.ts';
import { readJsonList } from '../../../mapping/json-list.ts';
import type { Mapping } from '../../../mapping/schema.ts';

type Input = Exclude<Mapping['input'], { readonly format: 'csv' }>;

/** Reads a file of import records: one a line, or a JSON list. */
export async function* readRecords(
  file: string,
  encoded: AsyncIterable<Buffer>,
  input: Input,
): AsyncGenerator<readonly Line[]> {
  const bytes = toUtf8(encoded, input.encoding);
  if (input.format === 'ndjson') return yield* readLines(bytes);
  const path = input.list === '' ? [] : input.list.split('.');
  for await (const rows of readJsonList(file, bytes, path)) {
    yield rows.map((row): Line => {
      const { line: number } = row;
      if ('problem' in row) return { number, text: '', problem: `the entry ${row.problem}` };
      return { number, text: JSON.stringify(row.values.document) };
    });
  }
}

/** Whether a document is an import record, valid or not. */
export function isRecord(document: unknown): boolean {
  return isObject(document) && lineTypes.some((type) => type === document['type']);
}
