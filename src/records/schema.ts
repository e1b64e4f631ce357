import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Checks } from './fields.ts';
import { joinProblems, parseWith } from './problems.ts';
import { type RecordType, recordTypes, records } from './records.ts';
import * as values from './values.ts';

/** What a line of an import may be. */
export const lineTypes = [...recordTypes, 'delete'] as const;

const deletion = z.object({
  type: z.literal('delete'),
  record: z.enum(recordTypes),
  id: values.id,
});

/** The schema of the import's lines. It only parses; derived values are computed when they are stored. */
function createRecordSchema(checks: Checks) {
  const { plan, subscription, payment, refund, cancellation } = records;
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
