import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../clock.ts';
import { withoutComments } from '../comments.ts';
import type { NeededColumns } from '../csv.ts';
import { fieldsOf, lineFields } from '../fields.ts';
import { columnsOf, createMakers } from '../open.ts';
import { parseMapping } from '../read.ts';
import type { FieldSpecs, Mapping } from '../schema.ts';
import type { Table } from './table.ts';

/** A mapping that comes with the service. */
export interface KnownMapping {
  /** Its file's name, such as "stripe-subscriptions.json". */
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
}

const folder = path.join(import.meta.dirname, '../../../mappings');

/** The shipped mapping whose columns are all in the table; of several, the one that names most of them. */
export async function findKnown(table: Table): Promise<KnownMapping | undefined> {
  const names = new Set([...table.columns.map(({ name }) => name), ...table.lists]);
  const isCsv = table.input.format === 'csv';
  let best: KnownMapping | undefined;
  let most = 0;
  for (const name of (await readdir(folder)).toSorted()) {
    if (!name.endsWith('.json')) continue;
    const text = await readFile(path.join(folder, name), 'utf8');
    const mapping = parseMapping(name, text);
    if (isCsv !== (mapping.input.format === 'csv')) continue;
    const { required, choices } = isCsv ? allColumns(mapping) : requiredPaths(mapping);
    const count = required.length + choices.length;
    const isThere = (columns: readonly string[]) => columns.every((each) => names.has(each));
    if (count <= most || !isThere(required)) continue;
    if (!choices.every((choice) => choice.some(isThere))) continue;
    most = count;
    best = { name, document: JSON.parse(withoutComments(text)) as KnownMapping['document'] };
  }
  return best;
}

/** A CSV file has all columns of its mapping, even if they are empty. */
function allColumns(mapping: Mapping): NeededColumns {
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  return columnsOf(createMakers(mapping, { shop, clock: systemClock }));
}

/** JSON leaves out what is empty, so only required fields can be expected. */
function requiredPaths({ records }: Mapping): NeededColumns {
  const paths = records.flatMap((record) => {
    const own = columnsIn(record.fields, fieldsOf[record.type]);
    if (record.type !== 'subscription') return own;
    const { from, fields } = record.lines;
    return [...own, ...(from === undefined ? columnsIn(fields, lineFields) : [from])];
  });
  return { required: [...new Set(paths)], choices: [] };
}

function columnsIn(
  specs: FieldSpecs,
  fields: Readonly<Record<string, { readonly required: boolean }>>,
): string[] {
  return Object.entries(specs).flatMap(([name, spec]) => {
    if (!spec || !fields[name]?.required || spec.empty !== undefined) return [];
    return [...(spec.columns ?? []), ...(spec.column === undefined ? [] : [spec.column])];
  });
}
