import type { Clock } from '../clock.ts';
import { isObject } from '../json.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type Line, recordNameOf } from '../ingest/lines.ts';
import { type RecordSchema, parseRecord } from '../records/records.ts';
import { mapRows, createMakers } from '../mapping/open.ts';
import { withoutValues } from '../mapping/field-reader.ts';
import { jsonValues } from '../mapping/rows.ts';
import { findShippedMapping } from '../mapping/shipped.ts';
import type { Mapping } from '../mapping/schema.ts';
import {
  type BodyRow,
  type ReadRows,
  type Rows,
  type Turns,
  maxRecords,
  tooManyRecords,
} from './body.ts';
import { type RefusedRecord, refusedRecord } from './outcomes.ts';

/** A mapping that comes with the service, unless there is none of this name or it is for CSV files. */
export async function findMapping(name: string): Promise<Mapping | undefined> {
  const mapping = await findShippedMapping(name);
  return mapping?.input.format === 'csv' ? undefined : mapping;
}

interface Mapped {
  readonly lines: readonly Line[];
  readonly refused: readonly RefusedRecord[];
  readonly warnings: readonly RefusedRecord[];
}

interface MapParts {
  readonly shop: ImportShop;
  /** The shop's. */
  readonly customerKey: string;
  readonly clock: Clock;
  readonly schema: RecordSchema;
  readonly turns: Turns;
}

/** The rows in the list that a mapping names, or the documents themselves. */
export function entriesOf(sent: Rows, { input }: Mapping): ReadRows {
  const path = 'list' in input ? input.list : '';
  if (path === '') return sent;
  const lists = sent.rows.map(({ number, value }) => {
    const list = jsonValues(value).get(path);
    return { number, entries: Array.isArray(list) ? list : [value] };
  });
  const count = lists.reduce((sum, { entries }) => sum + entries.length, sent.refused.length);
  if (count > maxRecords) return tooManyRecords();
  const rows: BodyRow[] = [];
  const refused = [...sent.refused];
  for (const { number, entries } of lists) {
    for (const entry of entries) {
      if (isObject(entry)) rows.push({ number, value: entry });
      else refused.push(refusedRecord(number, `${path} has an entry that is not an object`));
    }
  }
  return { rows, refused };
}

/** How many entries the lists of lines in a row have. */
export function countEntries({ value }: BodyRow, mapping: Mapping): number {
  return mapping.records.reduce((sum, spec) => {
    const from = spec.type === 'subscription' ? spec.lines.from : undefined;
    const list = from === undefined ? undefined : jsonValues(value).get(from);
    return sum + (Array.isArray(list) ? list.length : 0);
  }, 0);
}

/** Turns JSON objects into records. Of these only what the mapping names is kept. */
export async function mapDocuments(
  documents: readonly BodyRow[],
  mapping: Mapping,
  { schema, turns, ...options }: MapParts,
): Promise<Mapped> {
  const makers = createMakers(mapping, options);
  async function* rows() {
    for (const { number, value } of documents) {
      await turns.pass();
      yield [{ line: number, values: jsonValues(value, number) }];
    }
  }
  const lines: Line[] = [];
  const refused: RefusedRecord[] = [];
  const warnings: RefusedRecord[] = [];
  for await (const some of mapRows(rows(), makers, { rows: 0 })) {
    for (const line of some) {
      const { number, text, problem, warning, countsAs = 'unknown', recordId } = line;
      // The columns that it was made from are for files of refused lines only.
      const { rows: _rows, ...record } = JSON.parse(text);
      const parsed = problem === undefined ? parseRecord(schema, record) : { problem };
      if ('problem' in parsed) {
        const name = recordNameOf(line, {
          type: record.type ?? countsAs,
          id: record.id ?? recordId,
        });
        refused.push(refusedRecord(number, withoutValues(parsed.problem), name));
      } else {
        lines.push({ number, text: JSON.stringify(record) });
        if (warning !== undefined) warnings.push(refusedRecord(number, withoutValues(warning)));
      }
    }
  }
  return { lines, refused, warnings };
}
