import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../clock.ts';
import { withoutComments } from '../comments.ts';
import { columnsOf, createMakers } from '../open.ts';
import { parseMapping } from '../read.ts';
import type { RecordMaker } from '../records.ts';
import type { Table } from './table.ts';

/** A mapping that comes with the service. */
export interface KnownMapping {
  /** Its file's name, such as "stripe-subscriptions.json". */
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
}

const folder = path.join(import.meta.dirname, '../../../mappings');
/** How many rows are tried. */
const triedRows = 200;
/** The share of rows that a mapping must make records of. */
const leastShare = 0.25;

/** The shipped mapping that fits a table best, if one does. */
export async function findKnown(table: Table, clock: Clock): Promise<KnownMapping | undefined> {
  const isCsv = table.input.format === 'csv';
  const score = isCsv ? columnsFound : recordsMade;
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  let best: KnownMapping | undefined;
  let most = 0;
  for (const name of (await readdir(folder)).toSorted()) {
    if (!name.endsWith('.json')) continue;
    const text = await readFile(path.join(folder, name), 'utf8');
    const mapping = parseMapping(name, text);
    if (isCsv !== (mapping.input.format === 'csv')) continue;
    // Whatever the shop's currency is, the file is what it is.
    const records = mapping.records.map((record) => ({ ...record, currency: undefined }));
    const makers = createMakers({ ...mapping, records }, { shop, clock, asOf: clock.now() });
    const points = score(table, makers);
    if (points <= most) continue;
    most = points;
    best = { name, document: JSON.parse(withoutComments(text)) as KnownMapping['document'] };
  }
  return best;
}

/** A CSV file has all columns that its mapping needs, even if they are empty. */
function columnsFound({ columns }: Table, makers: readonly RecordMaker[]): number {
  const names = new Set(columns.map(({ name }) => name));
  const isThere = (each: readonly string[]) => each.every((name) => names.has(name));
  const { required, choices } = columnsOf(makers);
  const fits = isThere(required) && choices.every((choice) => choice.some(isThere));
  return fits ? required.length + choices.length : 0;
}

/**
 * JSON leaves out what is empty, so the test is whether the mapping makes records of the rows that it
 * applies to, and applies to a good part of them: lists have rows that no record is made of, such as drafts.
 */
function recordsMade({ rows }: Table, makers: readonly RecordMaker[]): number {
  const tried = rows.slice(0, triedRows);
  let made = 0;
  let failed = 0;
  for (const row of tried) {
    const results = makers
      .filter((each) => each.applies(row.values))
      .map((each) => each.make([row]));
    if (results.some((result) => 'record' in result)) made += 1;
    else if (results.length > 0) failed += 1;
  }
  return made > failed && made >= tried.length * leastShare ? made : 0;
}
