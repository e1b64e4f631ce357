import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';

const hoursOf: Readonly<Record<string, number>> = { h: 1, d: 24 };
const maxHours = 3650 * 24;

/** @returns milliseconds; undefined unless it is whole hours or days, up to 3650 days */
export function parseDuration(text: string): number | undefined {
  const [, count = '0', unit = 'h'] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  const hours = Number(count) * (hoursOf[unit] ?? 0);
  return hours < 1 || hours > maxHours ? undefined : hours * 3_600_000;
}

const timestamp = z.iso.datetime({ offset: true });

/**
 * Parses a time in the past, given as a timestamp or as how long ago it was.
 * @throws UsageError for anything else
 */
export function parsePast(text: string, option: string): Date {
  const now = systemClock.now();
  const ago = parseDuration(text);
  if (ago !== undefined) return new Date(now - ago);
  if (!timestamp.safeParse(text).success) {
    throw new UsageError(
      `${option} takes an ISO 8601 time with an offset or Z, such as 2026-11-21T16:00:00Z, or how long ago in whole hours or days, such as 2h or 7d, not "${text}".`,
    );
  }
  const instant = new Date(text);
  if (instant.getTime() > now) {
    throw new UsageError(`${option} must not be in the future, as ${text} is.`);
  }
  return instant;
}
