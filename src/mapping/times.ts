import type { Reading } from './fields.ts';

/** How a file writes times. */
export interface TimeFormat {
  /** A name such as "iso", "excel" or "months-ago", or a pattern such as "MM/DD/YYYY HH:mm". */
  readonly time?: string | undefined;
  /** The IANA zone of times without an offset. */
  readonly timeZone?: string | undefined;
  /** The date of the export, in epoch milliseconds; relative times count back from it. */
  readonly asOf?: number | undefined;
}

/** The units of times that a file gives as so many before the date of the export, such as "months-ago". */
const relativeUnits = ['days', 'weeks', 'months', 'years'] as const;
type RelativeUnit = (typeof relativeUnits)[number];

const relativeUnitOf = (format: string | undefined): RelativeUnit | undefined =>
  relativeUnits.find((unit) => format === `${unit}-ago`);

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
  readonly millisecond?: number;
}

type Reader = (text: string, zone: string | undefined) => number | Parts | undefined;

/** What each token of a pattern matches, and which part of a time that is. */
const tokens: Readonly<Record<string, readonly [pattern: string, part: string]>> = {
  YYYY: ['\\d{4}', 'year'],
  YY: ['\\d{2}', 'shortYear'],
  MMM: ['[A-Za-z]{3,9}', 'monthName'],
  MM: ['\\d{2}', 'month'],
  M: ['\\d{1,2}', 'month'],
  DD: ['\\d{2}', 'day'],
  D: ['\\d{1,2}', 'day'],
  HH: ['\\d{2}', 'hour'],
  H: ['\\d{1,2}', 'hour'],
  hh: ['\\d{2}', 'hour12'],
  h: ['\\d{1,2}', 'hour12'],
  A: ['[AaPp][Mm]', 'meridiem'],
  mm: ['\\d{2}', 'minute'],
  ss: ['\\d{2}', 'second'],
};
const tokenPattern = /YYYY|YY|MMM|MM|M|DD|D|HH|H|hh|h|A|mm|ss/g;

/** Parts that stand for another. */
const alternatives: Readonly<Record<string, string>> = { shortYear: 'year', monthName: 'month' };

const monthNames =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/;

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(10_000, 0, 1);

const namedFormats: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['iso', readIso],
  [
    'unix-seconds',
    (text) => (/^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Math.floor(Number(text) * 1000) : undefined),
  ],
  ['unix-milliseconds', (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)],
  ['excel', readExcel],
]);

/** Whether times of the format are so much before the date of the export. */
export function isRelative(format: string | undefined): boolean {
  return relativeUnitOf(format) !== undefined;
}

/** Why a format is invalid; undefined if it is valid. */
export function problemOfTime(format: string): string | undefined {
  if (namedFormats.has(format) || isRelative(format)) return undefined;
  const written = (format.match(tokenPattern) ?? []).map((token) => tokens[token]?.[1] as string);
  const parts = written.map((part) => alternatives[part] ?? part);
  const rest = format.replaceAll(tokenPattern, '');
  const names = [...namedFormats.keys(), ...relativeUnits.map((unit) => `${unit}-ago`)].join(', ');
  const choices = `must be ${names} or a pattern`;
  if (/[A-SU-Za-z]/.test(rest)) {
    return `${choices} of YYYY, YY, MMM, MM, M, DD, D, HH, H, hh, h, A, mm, ss`;
  }
  if (new Set(parts).size < parts.length) return 'must not name a part of the time twice';
  if (!['year', 'month', 'day'].every((part) => parts.includes(part))) {
    return `${choices} with YYYY, MM and DD in it, such as MM/DD/YYYY`;
  }
  if (parts.includes('hour12') !== parts.includes('meridiem')) {
    return 'must have hh (or h) and A together: the hours from 1 to 12, and AM or PM';
  }
  return undefined;
}

/** Whether times of the format never include their offset. */
export function needsTimeZone(format: string): boolean {
  return format === 'excel' || (!namedFormats.has(format) && !isRelative(format));
}

export function isTimeZone(zone: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads times of a format and returns them as ISO 8601 in UTC. A local time skipped when clocks go
 * forward is shifted by as much as the clocks; one that occurs twice is read as the first.
 */
export function createTimeReader({
  time = 'iso',
  timeZone,
  asOf,
}: TimeFormat): (text: string) => Reading {
  const unit = relativeUnitOf(time);
  if (unit) return relativeReader(unit, asOf);
  const read = namedFormats.get(time) ?? patternReader(time);
  const wrong = `must be a time ${time === 'iso' ? 'in ISO 8601' : `written as ${time}`}`;
  return (text) => {
    const found = read(text, timeZone);
    if (found === undefined) return { wrong };
    if (typeof found !== 'number' && timeZone === undefined) {
      return { wrong: 'has no offset; give the mapping a timeZone' };
    }
    const at = typeof found === 'number' ? found : instantOf(found, timeZone ?? 'UTC');
    if (at === undefined) return { wrong };
    if (at < earliest || at >= latest) return { wrong: 'must lie in the years 1970 to 9999' };
    return { value: new Date(at).toISOString() };
  };
}

/** Whole units by the calendar in UTC; the fraction of a month or year by its average length. */
function relativeReader(unit: RelativeUnit, asOf: number | undefined): (text: string) => Reading {
  const isLong = unit === 'months' || unit === 'years';
  return (text) => {
    const match = /^(\d{1,5})(?:\.(\d{1,9}))?$/.exec(text);
    if (!match) return { wrong: `must be a number of ${unit} before the date of the export` };
    if (asOf === undefined) return { wrong: 'needs the date of the export (--as-of)' };
    const months = Number(match[1]) * (unit === 'years' ? 12 : 1);
    const days = Number(match[1]) * (unit === 'weeks' ? 7 : 1);
    const start = Temporal.Instant.fromEpochMilliseconds(asOf)
      .toZonedDateTimeISO('UTC')
      .subtract(isLong ? { months } : { days }).epochMilliseconds;
    const at = start - Math.round(Number(`0.${match[2] ?? 0}`) * daysOf[unit] * dayMilliseconds);
    if (at < earliest) return { wrong: 'must lie in the years 1970 to 9999' };
    return { value: new Date(at).toISOString() };
  };
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
const daysOf = { days: 1, weeks: 7, months: 365.2425 / 12, years: 365.2425 };

function instantOf(parts: Parts, zone: string): number | undefined {
  try {
    return Temporal.PlainDateTime.from(parts, { overflow: 'reject' }).toZonedDateTime(zone, {
      disambiguation: 'compatible',
    }).epochMilliseconds;
  } catch {
    return undefined;
  }
}

function readIso(text: string): number | Parts | undefined {
  const match = isoPattern.exec(text);
  if (!match) return readWeek(text) ?? readMonth(text);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const millisecond = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const parts = { year, month, day, hour, minute, second, millisecond };
  const offset = match[8];
  if (offset === undefined) return parts;
  return instantOf(parts, /^[+-]/.test(offset) ? offset : 'UTC');
}

/** A week of ISO 8601, which begins on Monday, or a day of one. */
function readWeek(text: string): Parts | undefined {
  const match = /^(\d{4})-?W(\d\d)(?:-?([1-7]))?$/.exec(text);
  if (!match) return undefined;
  const [year, week, weekday] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)];
  // The week with 4 January is the first.
  const first = Temporal.PlainDate.from({ year, month: 1, day: 4 });
  const found = first.add({ days: (week - 1) * 7 + weekday - first.dayOfWeek });
  if (found.weekOfYear !== week) return undefined;
  return { year: found.year, month: found.month, day: found.day };
}

/** A month, as its first day. */
function readMonth(text: string): Parts | undefined {
  const match = /^(\d{4})-(\d\d)$/.exec(text);
  return match ? { year: Number(match[1]), month: Number(match[2]), day: 1 } : undefined;
}

/** The day that Excel's dates count from: it takes 1900 for a leap year. */
const excelEpoch = Date.UTC(1899, 11, 30);

/** A number of days, whose fraction is the time of day. Times have whole seconds. */
function readExcel(text: string): Parts | undefined {
  if (!/^\d{1,7}(?:[.,]\d{1,15})?$/.test(text)) return undefined;
  const seconds = Math.round(Number(text.replace(',', '.')) * 86_400);
  const at = Temporal.Instant.fromEpochMilliseconds(excelEpoch + seconds * 1000);
  const { year, month, day, hour, minute, second } = at.toZonedDateTimeISO('UTC');
  return { year, month, day, hour, minute, second };
}

function patternReader(format: string): Reader {
  const names: string[] = [];
  const source = format
    .replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    .replaceAll(tokenPattern, (token) => {
      const [pattern = '', name = ''] = tokens[token] ?? [];
      names.push(name);
      return `(${pattern})`;
    });
  const pattern = new RegExp(`^${source}$`);
  return (text) => {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const part = Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
    const number = (name: string) => Number(part[name] ?? 0);
    const year = part['shortYear'] === undefined ? number('year') : fullYear(number('shortYear'));
    const name = part['monthName']?.toLowerCase();
    const month = name === undefined ? number('month') : monthOf(name);
    const parts = { year, month, day: number('day') };
    const hour12 = number('hour12');
    if (part['meridiem'] !== undefined && (hour12 < 1 || hour12 > 12)) return undefined;
    const halfDay = part['meridiem']?.toUpperCase() === 'PM' ? 12 : 0;
    const hour = part['meridiem'] === undefined ? number('hour') : (hour12 % 12) + halfDay;
    return { ...parts, hour, minute: number('minute'), second: number('second') };
  };
}

/** Two digits of a year, as POSIX reads them: 69 to 99 are in the last century. */
function fullYear(digits: number): number {
  return digits + (digits < 69 ? 2000 : 1900);
}

/** The month with this English name or its abbreviation; 0 if there is none. */
function monthOf(name: string): number {
  const abbreviation = name === 'sept' ? 'sep' : name;
  const isWhole = (month: string) => month === abbreviation || month.slice(0, 3) === abbreviation;
  return monthNames.findIndex(isWhole) + 1;
}
