import {
  type ImportRecord,
  type RecordSchema,
  allFields,
  parseRecord,
  lineTypes,
  deletionOrder,
  namedFields,
} from '../records/records.ts';
import { parseRecordJson } from '../records/json.ts';
import { isoTime } from '../iso-time.ts';
import type { Field } from '../records/fields.ts';
import { isInFuture, lyingInFuture } from '../records/values.ts';
import type { Clock } from '../clock.ts';
import { isObject } from '../json.ts';
import { firstOwnNumber } from '../own-number.ts';
import type { ValueSighting } from './histories/past-values.ts';
import { type UsedSourceId, sourceIdsOf } from './source-ids.ts';

/** Longer lines are refused: the largest possible record is far shorter. */
const maxLineBytes = 4 * 1024 * 1024;

const newline = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** One line of a file. If it has a `problem`, `text` is as much as can be shown of it. */
export interface Line {
  readonly number: number;
  readonly text: string;
  /** The parsed text, if at hand; the text is then neither generated nor parsed. */
  readonly value?: object;
  /** Its record, if it needs no check but that of its times (`recordLineOf`). */
  readonly record?: ImportRecord;
  readonly problem?: string;
  /** Something unusual about it; it is still imported. */
  readonly warning?: string | undefined;
  /** The file it comes from, if its source has several. */
  readonly source?: string | undefined;
  /** The record type that a line with a problem counts as; by default "unknown". */
  readonly countsAs?: string;
  /** The id of the record in a line with a problem, if it could be read. */
  readonly recordId?: number | undefined;
  /** The record's id at its source, if that is no personal data. */
  readonly sourceId?: string | undefined;
}

/** Names the record of a line in messages, such as "subscription sub_1"; undefined if it has no id. */
export function recordNameOf(
  line: Line,
  {
    type,
    id,
    sourceIds = [],
  }: Pick<Unparsed, 'type' | 'id'> & Partial<Pick<ParsedRecord, 'sourceIds'>>,
): string | undefined {
  const own = sourceIds.find(({ isOwn }) => isOwn)?.sourceId;
  // Derived numbers are in no file.
  const known = line.sourceId ?? own ?? (Number(id) < firstOwnNumber ? id : undefined);
  return known === undefined || type === 'unknown' ? undefined : `${type} ${known}`;
}

/** A line for a value in memory. Its text is generated only on access. */
export function lineOf(number: number, value: object): Line {
  return {
    number,
    value,
    get text() {
      return JSON.stringify(value);
    },
  };
}

/**
 * Splits a byte stream into lines, yielding those of each chunk together. Buffers at most one line.
 * Blank lines are skipped but counted.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  const take = (bytes: Uint8Array): Line | undefined => {
    number += 1;
    const isTooLong = restBytes + bytes.length > maxLineBytes;
    const whole = rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]);
    rest = [];
    restBytes = 0;
    return toLine(number, whole, isTooLong);
  };

  for await (const chunk of stream) {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      const line = take(chunk.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      const bytes = chunk.subarray(start);
      // Keep only the beginning of a line that is too long.
      if (restBytes <= maxLineBytes) rest.push(bytes);
      restBytes += bytes.length;
    }
    if (lines.length > 0) yield lines;
  }
  if (restBytes > 0) {
    const line = take(new Uint8Array(0));
    if (line) yield [line];
  }
}

function toLine(number: number, bytes: Uint8Array, isTooLong: boolean): Line | undefined {
  const lossy = () => Buffer.from(bytes.subarray(0, 1000)).toString('utf8');
  if (isTooLong) {
    return { number, text: lossy(), problem: `the line is longer than ${maxLineBytes} bytes` };
  }
  try {
    // The decoder drops a byte order mark; a carriage return before the newline is white space.
    const text = decoder.decode(bytes).trim();
    return text === '' ? undefined : { number, text };
  } catch {
    return { number, text: lossy(), problem: 'the line is not UTF-8' };
  }
}

type RecordParts = Pick<Line, 'number' | 'source' | 'warning'> & { readonly record: ImportRecord };

/**
 * A line for a record that a feed has made from checked values, so that of all that is checked in a line only
 * its times are left. Its text is generated only on access, when the record has to wait or is refused.
 */
export function recordLineOf(parts: RecordParts): Line {
  return new RecordLine(parts);
}

/** A class, so that a million of them share one getter. */
class RecordLine implements Line {
  readonly number: number;
  readonly record: ImportRecord;
  readonly source: string | undefined;
  readonly warning: string | undefined;

  constructor({ number, record, source, warning }: RecordParts) {
    this.number = number;
    this.record = record;
    this.source = source;
    this.warning = warning;
  }

  get text(): string {
    return JSON.stringify(this.record, (name, value: unknown) =>
      times.has(name) && typeof value === 'number' ? isoTime(value) : value,
    );
  }
}

/** The names of all fields that hold a time. */
const times = namesOf(allFields, ({ kind }) => kind === 'time');
const pastTimes = namesOf(
  deletionOrder.flatMap(namedFields),
  (field) => field.kind === 'time' && field.isPast === true,
);

function namesOf(all: typeof allFields, has: (field: Field) => boolean): Set<string> {
  return new Set(all.filter(([, field]) => has(field)).map(([name]) => name));
}

/** What is wrong with the times of such a record, undefined if nothing is. */
function problemOfTimes(record: ImportRecord, clock: Clock): string | undefined {
  const values = record as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  for (const name of pastTimes) {
    const at = values[name];
    if (typeof at !== 'number' || !isInFuture(at, clock)) continue;
    problems.push(`${name} ${lyingInFuture(at)}`);
  }
  return problems.length === 0 ? undefined : problems.join('; ');
}

export interface ParsedRecord {
  readonly record: ImportRecord;
  readonly sourceIds: readonly UsedSourceId[];
  readonly seenValues?: readonly ValueSighting[] | undefined;
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
  /** Whether a feed made the line. Only then are its `sourceIds`, `exportedAt` and `seenValues` used. */
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
    value ??= parseRecordJson(line.text);
  } catch {
    const isOfArray = /^\s*\[/.test(line.text);
    return {
      type: 'unknown',
      id: undefined,
      problem: `the line is not JSON${isOfArray ? ': records stand on lines of their own, without a list around them' : ''}`,
    };
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
  const { seenValues } = value as Pick<ParsedRecord, 'seenValues'>;
  return { record, sourceIds: sourceIdsOf(record, value), exportedAt, seenValues };
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
