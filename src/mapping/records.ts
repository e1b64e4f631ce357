import type { Clock } from '../clock.ts';
import { liesAhead } from '../ingest/ahead.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type FieldReading, createFieldReader, holds, plainText, shown } from './field-reader.ts';
import {
  type Field,
  type Fields,
  type MappedType,
  fieldsOf,
  lineFields,
  statusEventFields,
} from './fields.ts';
import { type Values, jsonValues } from './rows.ts';
import type { Conditions, FieldSpec, FieldSpecs, RecordSpec } from './schema.ts';
import type { Formats } from './values.ts';

/** A row that was read, by the line on which it begins. */
export interface ReadRow {
  readonly line: number;
  readonly values: Values;
}

/** Makes the records of one kind that a mapping describes. */
export interface RecordMaker {
  readonly type: MappedType;
  /** The column by which rows belong together. */
  readonly group: string | undefined;
  /** Columns that are read of a row, and no others. */
  readonly columns: readonly string[];
  /** Those that all rows of a group have in common, or leave empty after the first. */
  readonly sharedColumns: readonly string[];
  /** Whether the row, or the group that it begins, gives a record. */
  applies(values: Values): boolean;
  make(rows: readonly ReadRow[]): { readonly record: object } | { readonly problem: string };
}

interface Context {
  readonly formats: Formats;
  readonly minorDigits: number;
  readonly clock: Clock;
}

type Reader = (values: Values) => FieldReading;
type NamedReader = readonly [name: string, read: Reader];

export function createRecordMaker(
  spec: RecordSpec,
  formats: Formats,
  shop: ImportShop,
  clock: Clock,
): RecordMaker {
  const context = { formats, minorDigits: shop.minorDigits, clock };
  const readers = readersOf(fieldsOf[spec.type], spec.fields, context);
  const parts: Part[] = [currencyPart(spec.currency, shop.currency)];
  const shared = [
    ...columnsOf(spec.fields),
    ...Object.keys(spec.when),
    ...(spec.currency === undefined ? [] : [spec.currency]),
  ];
  const ofLines: string[] = [];
  if (spec.type === 'subscription') {
    parts.push(linesPart(spec.lines, context), eventsPart(spec.statusEvents ?? [], context));
    if (spec.lines.from === undefined) ofLines.push(...columnsOf(spec.lines.fields));
    for (const { when, ...fields } of spec.statusEvents ?? []) {
      shared.push(...Object.keys(when), ...columnsOf(fields));
    }
  }
  const group = spec.type === 'subscription' ? spec.group : undefined;
  // Lines differ, and each may be on a plan of its own; the subscription is on the first one's.
  const mayDiffer = new Set([...ofLines, ...columnsOf({ planId: spec.fields['planId'] })]);
  return {
    type: spec.type,
    group,
    columns: [...new Set([...(group === undefined ? [] : [group]), ...shared, ...ofLines])],
    sharedColumns: [...new Set(shared)].filter((column) => !mayDiffer.has(column)),
    applies: (values) => holds(spec.when, values),
    make(rows) {
      const record: Record<string, unknown> = { type: spec.type };
      const problems = readInto(record, readers, rows[0]?.values as Values);
      for (const part of parts) problems.push(...part(record, rows));
      return problems.length > 0 ? { problem: problems.join('; ') } : { record };
    },
  };
}

/** Adds to a record, and says what is wrong. */
type Part = (record: Record<string, unknown>, rows: readonly ReadRow[]) => readonly string[];

function currencyPart(column: string | undefined, currency: string): Part {
  return (_, rows) => {
    if (column === undefined) return [];
    const text = plainText(rows[0]?.values as Values, column);
    return text.toUpperCase() === currency
      ? []
      : [`column ${column}: "${shown(text)}" is not the shop's currency, ${currency}`];
  };
}

function linesPart(
  { from, fields }: { readonly from?: string | undefined; readonly fields: FieldSpecs },
  context: Context,
): Part {
  const readers = readersOf(lineFields, fields, context);
  return (record, rows) => {
    const problems: string[] = [];
    const places = from === undefined ? placesOfRows(rows) : placesOfList(rows, from);
    if (places === undefined) return [`column ${from} is not a list`];
    record['lines'] = places.map(({ values, where }, index) => {
      const line: Record<string, unknown> = { lineId: index + 1 };
      for (const problem of readInto(line, readers, values)) problems.push(where + problem);
      return line;
    });
    return problems;
  };
}

interface Place {
  readonly values: Values;
  /** What tells its problems from those of the record itself. */
  readonly where: string;
}

function placesOfRows(rows: readonly ReadRow[]): readonly Place[] {
  return rows.map(({ line, values }, index) => ({
    values,
    where: index === 0 ? '' : `line ${line}: `,
  }));
}

function placesOfList(rows: readonly ReadRow[], from: string): readonly Place[] | undefined {
  const list = rows[0]?.values.get(from);
  if (!Array.isArray(list)) return undefined;
  return list.map((entry, index) => ({ values: jsonValues(entry), where: `${from}[${index}]: ` }));
}

interface EventSpec {
  readonly when: Conditions;
  readonly at: FieldSpec;
  readonly to: FieldSpec;
  readonly until?: FieldSpec | undefined;
}

/**
 * Without an event in the row it tells one status only: what is stored of the history stays. An event
 * that is only booked is left out where the mapping says what the status is until then.
 */
function eventsPart(specs: readonly EventSpec[], context: Context): Part {
  const events = specs.map(({ when, ...fields }) => ({
    when,
    readers: readersOf(statusEventFields, { ...fields }, context),
  }));
  const isBooked = (event: Record<string, unknown>) =>
    event['until'] !== undefined && liesAhead(timeOf(event), context.clock);
  return (record, rows) => {
    const values = rows[0]?.values as Values;
    const problems: string[] = [];
    const found: Record<string, unknown>[] = [];
    for (const { when, readers } of events) {
      if (!holds(when, values)) continue;
      const event: Record<string, unknown> = {};
      problems.push(...readInto(event, readers, values));
      if (event['at'] !== undefined) found.push(event);
    }
    found.sort((a, b) => timeOf(a) - timeOf(b));
    const next = found.find(isBooked);
    if (next) record['status'] = next['until'];
    const statusEvents = found
      .filter((event) => !isBooked(event))
      .map(({ at, to }) => ({ at, to }));
    if (statusEvents.length === 0) record['keeps'] = 'history';
    else record['statusEvents'] = statusEvents;
    return problems;
  };
}

function timeOf(event: Record<string, unknown>): number {
  return Date.parse(String(event['at']));
}

function readersOf(fields: Fields, specs: FieldSpecs, context: Context): readonly NamedReader[] {
  return Object.entries(specs).flatMap(([name, spec]): NamedReader[] => {
    if (spec === undefined) return [];
    const field = fields[name] as Field;
    return [[name, createFieldReader(field, spec, context.formats, context.minorDigits)]];
  });
}

/** Fills in what the readers find; the problems are returned. */
function readInto(
  target: Record<string, unknown>,
  readers: readonly NamedReader[],
  values: Values,
): string[] {
  const problems: string[] = [];
  for (const [name, read] of readers) {
    const reading = read(values);
    if ('problem' in reading) problems.push(reading.problem);
    else if (reading.value !== undefined) put(target, name, reading.value);
    if ('sourceId' in reading) put(target, `sourceIds.${name}`, reading.sourceId);
  }
  return problems;
}

function put(target: Record<string, unknown>, name: string, value: unknown): void {
  const [first = '', second] = name.split('.');
  if (second === undefined) target[first] = value;
  else target[first] = { ...(target[first] as object | undefined), [second]: value };
}

function columnsOf(specs: FieldSpecs): string[] {
  return Object.values(specs).flatMap((spec) => [
    ...(spec?.column === undefined ? [] : [spec.column]),
    ...(spec?.columns ?? []),
    ...Object.keys(spec?.when ?? {}),
  ]);
}
