import type { Clock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { isInFuture } from '../records/values.ts';
import type { Mapping } from './schema.ts';
import { isRelative } from './times.ts';

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
  // Date.parse turns 30 February into 2 March.
  const isReal = !Number.isNaN(at) && (!isDate || new Date(at).toISOString().startsWith(text));
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
  const isAnyRelative = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([name, member]) =>
      name === 'time' && typeof member === 'string' ? isRelative(member) : isAnyRelative(member),
    );
  return isRelative(formats.time) || isAnyRelative(records);
}
