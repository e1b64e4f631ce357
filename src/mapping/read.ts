import { readFile } from 'node:fs/promises';
import { CommandError, UsageError } from '../errors.ts';
import { parseWith } from '../records/problems.ts';
import { type Mapping, type FieldSpec, mappingSchemaFor } from './schema.ts';
import type { Clock } from '../clock.ts';
import { isInFuture } from '../records/values.ts';
import { isRelative } from './times.ts';
import type { SubscriptionStatus } from '../vocabulary.ts';

/**
 * Reads a mapping file.
 * @throws CommandError if it cannot be read
 * @throws UsageError with everything that is wrong in it
 */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${file} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`,
    );
  });
  return parseMapping(file, text);
}

/** @throws UsageError with everything that is wrong in it */
export function parseMapping(file: string, text: string): Mapping {
  let value: unknown;
  try {
    value = JSON.parse(withoutComments(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  const parsed = parseWith(mappingSchemaFor(value), value, 'it');
  if ('data' in parsed) return parsed.data;
  throw new UsageError(
    [
      `${file} is not a mapping:`,
      ...parsed.problems.values().map((problem) => `  ${problem}`),
    ].join('\n'),
  );
}

/**
 * Parses the date of an export (`--as-of`): a date, which means its midnight in UTC, or a time with an offset.
 * @returns epoch milliseconds
 * @throws UsageError if it is neither, or in the future
 */
export function parseAsOf(text: string, clock: Clock): number {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(
    text,
  );
  const at = isDate || isTime ? Date.parse(text) : Number.NaN;
  const date = text.slice(0, 10);
  // Date.parse turns 30 February into 2 March.
  const isReal = at >= 0 && new Date(date).toISOString().startsWith(date);
  if (!isReal) {
    throw new UsageError(
      `--as-of must be a date such as 2026-11-01, or a time such as 2026-11-01T06:00:00Z, not "${text}".`,
    );
  }
  if (isInFuture(at, clock)) {
    throw new UsageError(`--as-of must be the date of the export, and ${text} is in the future.`);
  }
  return at;
}

/** Whether the mapping has times that count back from the date of the export. */
export function needsAsOf({ formats, records }: Mapping): boolean {
  return (
    isRelative(formats.time) ||
    hasMember(
      records,
      (name, value) => name === 'time' && typeof value === 'string' && isRelative(value),
    )
  );
}

/** Whether what becomes of a row can change although the row does not. */
export function dependsOnTime(mapping: Mapping): boolean {
  return (
    // Discounts and trials end.
    mapping.vendor !== undefined ||
    needsAsOf(mapping) ||
    hasMember(
      mapping.records,
      (name, value) =>
        // Changes and prices to come.
        (['until', 'valueEvents'].includes(name) && value !== undefined) ||
        (name === 'generate' && value === 'time'),
    )
  );
}

function hasMember(value: unknown, fits: (name: string, member: unknown) => boolean): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([name, member]) => fits(name, member) || hasMember(member, fits))
  );
}

/** Whether a mapping makes cancelled subscriptions without a date for that. */
export function lacksEndDates({ records }: Mapping): boolean {
  return records.some(
    (record) =>
      record.type === 'subscription' &&
      record.fields['updatedAt'] === undefined &&
      mayBe(record.fields['status'], 'cancelled') &&
      !record.statusEvents?.some(({ to }) => mayBe(to, 'cancelled')),
  );
}

function mayBe(spec: FieldSpec | undefined, status: SubscriptionStatus): boolean {
  if (!spec) return false;
  const { value, table, otherwise, empty } = spec;
  if (value !== undefined) return value === status;
  return !table || [...Object.values(table), otherwise, empty].includes(status);
}

/**
 * A mapping file's text as plain JSON: comments (`//` to the end of the line) and commas before a closing
 * bracket become spaces, so that errors name the same position.
 */
export function withoutComments(text: string): string {
  // Strings come first, so that nothing inside them is taken for a comment. One without an end is passed, too, not read
  // again from each of its quotes.
  const noComments = text.replaceAll(/"(?:[^"\\\r\n]|\\.)*"?|\/\/[^\r\n]*/g, (part) =>
    part.startsWith('"') ? part : ' '.repeat(part.length),
  );
  return noComments.replaceAll(/"(?:[^"\\\r\n]|\\.)*"?|,(?=\s*[}\]])/g, (part) =>
    part === ',' ? ' ' : part,
  );
}
