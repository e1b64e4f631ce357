import type { Clock } from '../clock.ts';
import { isObject } from '../json.ts';
import { isInFuture } from '../records/future.ts';
import type { Line } from './lines.ts';
import { type ImportRecord, type RecordSchema, parseRecord, lineTypes } from '../records/schema.ts';
import { problemOfTimes } from './record-line.ts';
import { type UsedSourceId, sourceIdsOf } from './source-ids.ts';

export interface ParsedRecord {
  readonly record: ImportRecord;
  readonly sourceIds: readonly UsedSourceId[];
  /** When the export that has the record was made, in epoch milliseconds, if that is known. */
  readonly exportedAt: number | undefined;
}

/** A line without a valid record. */
export interface Unparsed {
  /** The type of record that it counts as. */
  readonly type: string;
  /** The record's id, if it could be read. */
  readonly id: number | undefined;
  readonly problem: string;
}

interface ParseContext {
  readonly schema: RecordSchema;
  readonly clock: Clock;
  /** Whether a feed made the line. Only then are its `sourceIds` and `exportedAt` used. */
  readonly isFromFeed: boolean;
}

export function parseLine(
  line: Line,
  { schema, clock, isFromFeed }: ParseContext,
): ParsedRecord | Unparsed {
  if (line.problem !== undefined) {
    return { type: line.countsAs ?? 'unknown', id: line.recordId, problem: line.problem };
  }
  if (line.record) return withCheckedTimes(line.record, clock);
  let value: unknown = line.value;
  try {
    value ??= JSON.parse(line.text);
  } catch {
    return { type: 'unknown', id: undefined, problem: 'the line is not JSON' };
  }
  const parsed = parseRecord(schema, value);
  if ('problem' in parsed) return { ...identityOf(value), ...parsed };
  const { record } = parsed;
  if (!isFromFeed) return { record, sourceIds: [], exportedAt: undefined };
  const exportedAt = exportTimeOf(value);
  if (exportedAt !== undefined && isInFuture(exportedAt, clock)) {
    const problem = `the date of the export, ${new Date(exportedAt).toISOString()}, lies in the future`;
    return { type: record.type, id: record.id, problem };
  }
  return { record, sourceIds: sourceIdsOf(record, value), exportedAt };
}

function withCheckedTimes(record: ImportRecord, clock: Clock): ParsedRecord | Unparsed {
  const problem = problemOfTimes(record, clock);
  if (problem !== undefined) return { type: record.type, id: record.id, problem };
  return { record, sourceIds: [], exportedAt: undefined };
}

function identityOf(value: unknown): Pick<Unparsed, 'type' | 'id'> {
  if (!isObject(value)) return { type: 'unknown', id: undefined };
  const { type, id } = value;
  return {
    type: lineTypes.find((known) => known === type) ?? 'unknown',
    id: Number.isSafeInteger(id) && (id as number) > 0 ? (id as number) : undefined,
  };
}

function exportTimeOf(value: unknown): number | undefined {
  const text = isObject(value) ? value['exportedAt'] : undefined;
  return typeof text === 'string' ? Date.parse(text) : undefined;
}
