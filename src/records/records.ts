import { z } from 'zod';
import * as values from './values.ts';
import { cancellation } from './cancellation.ts';
import type { Field, Checks } from './fields.ts';
import { payment } from './payment.ts';
import { plan } from './plan.ts';
import { refund } from './refund.ts';
import { subscription } from './subscription.ts';
import type { Clock } from '../clock.ts';
import { joinProblems, parseWith } from './problems.ts';

/**
 * The catalogue of records, parents first. Only what they declare is kept: whatever else a source sends is
 * dropped. Of a person that is `customerId`, an opaque number; a source's text for it is kept only if its form is
 * known to be opaque (`ingest/source-ids.ts`).
 */
export const records = { plan, subscription, payment, refund, cancellation } as const;

export type RecordType = keyof typeof records;
export const recordTypes = Object.keys(records) as readonly RecordType[];

type SchemaOf<Type extends RecordType> = ReturnType<(typeof records)[Type]['schema']>;

/** A valid record. Times are epoch milliseconds, amounts are decimal text. */
export type RecordOf<Type extends RecordType> = z.output<SchemaOf<Type>>;

/** The same as sources send it, in JSON. */
export type RecordInput<Type extends RecordType> = z.input<SchemaOf<Type>>;

/** Children first: a plan cannot be deleted while a subscription uses it. */
export const deletionOrder = recordTypes.toReversed();

/** The fields of a type of record, by name. */
export function namedFields(type: RecordType): readonly [name: string, field: Field][] {
  return Object.entries(records[type].fields);
}

/** The fields of all records, of their parts and of the entries of their lists. */
export const allFields: readonly (readonly [name: string, field: Field])[] = recordTypes
  .flatMap(namedFields)
  .flatMap((each) => [each, ...('fields' in each[1] ? Object.entries(each[1].fields) : [])]);

interface Parent {
  readonly type: RecordType;
  /** The field with its id. */
  readonly field: string;
}

/** What must be stored before a record of a type: the record that one of its fields names. */
export const parents = Object.fromEntries(
  recordTypes.map((type) => {
    const [parent] = namedFields(type).flatMap(([name, field]): Parent[] => {
      if (field.kind !== 'id' || name === 'id') return [];
      const named = recordTypes.find((each) => each === field.of);
      return named === undefined ? [] : [{ type: named, field: name }];
    });
    return [type, parent];
  }),
) as Readonly<Record<RecordType, Parent | undefined>>;

/** What a line of an import may be. */
export const lineTypes = [...recordTypes, 'delete'] as const;

const deletion = z.object({
  type: z.literal('delete'),
  record: z.enum(recordTypes),
  id: values.id,
});

/** The schema of the import's lines. It only parses; derived values are computed when they are stored. */
function createRecordSchema(checks: Checks) {
  const line = z.discriminatedUnion(
    'type',
    [
      plan.schema(checks),
      subscription.schema(checks),
      payment.schema(checks),
      refund.schema(checks),
      cancellation.schema(checks),
      deletion,
    ],
    { error: values.oneOfTypes(lineTypes, 'the line is not a JSON object') },
  );
  // Takes a sixth of the time for a valid record; an invalid one is then read again, for its problems.
  return z.compile(line, { strict: true });
}

export type RecordSchema = ReturnType<typeof createRecordSchema>;

const schemas = new WeakMap<Clock, Map<string, RecordSchema>>();

/**
 * Created once for each clock: that takes as long as reading a thousand records.
 * @param minorDigits decimals of the shop's currency; an amount with more is refused
 * @param clock the importer's; times of past events must not be ahead of it
 * @param isFromFeed whether records may keep stored data; otherwise that is ignored
 */
export function recordSchema(minorDigits: number, clock: Clock, isFromFeed = false): RecordSchema {
  const create = () => createRecordSchema({ minorDigits, clock, isFromFeed });
  const ofClock = schemas.getOrInsertComputed(clock, () => new Map());
  return ofClock.getOrInsertComputed(`${minorDigits} ${isFromFeed}`, create);
}

/** A record to be written, or a deletion. */
export type ImportRecord = z.output<RecordSchema>;

/** The type of the record that is written or deleted. */
export function targetTypeOf(record: ImportRecord): RecordType {
  return record.type === 'delete' ? record.record : record.type;
}

/** The record, or one line about its invalid fields and what is expected of them. */
export function parseRecord(
  schema: RecordSchema,
  value: unknown,
): { record: ImportRecord } | { problem: string } {
  const parsed = parseWith(schema, value);
  return 'data' in parsed ? { record: parsed.data } : { problem: joinProblems(parsed.problems) };
}
