import { day } from '../bounds.ts';

const minute = 60_000;
const hour = 60 * minute;

/**
 * A part of a UTC day, and where it is read. Hours and minutes may not be kept for a day: then `all` of the part is
 * read from the records, instead of `hour`, `minute` and `records`. ISO 8601; includes `from`, excludes `until`.
 */
export interface DayPart {
  readonly source: 'day' | 'hour' | 'minute' | 'records' | 'all';
  readonly from: string;
  readonly until: string;
  /** The start of the day. */
  readonly day: string;
  /** What stands for each instant in the part: it has the same date, and is on the same side of the time of `now`. */
  readonly at: string;
  /** What stands for the whole day, of which this part is to be taken away again; else empty. */
  readonly exceptAt: string;
}

/**
 * An interval of whole days of 24 hours, cut at midnight, UTC, and at the time of day of `now`: what is due in one part of a
 * day stays in the same week, however many months are added. The later part of a day is the day less its earlier part.
 * @param now, end epoch milliseconds
 */
export function dayPartsOf(now: number, end: number): DayPart[] {
  const today = Math.floor(now / day) * day;
  const time = now - today;
  const [wholeHours, wholeMinutes] = [time - (time % hour), time - (time % minute)];
  const parts: DayPart[] = [];
  const add = (
    source: DayPart['source'],
    from: number,
    until: number,
    at: number,
    exceptAt?: number,
  ) => {
    if (from >= until) return;
    parts.push({
      source,
      from: iso(from),
      until: iso(until),
      day: iso(Math.floor(from / day) * day),
      at: iso(at),
      exceptAt: exceptAt === undefined ? 'NULL' : iso(exceptAt),
    });
  };
  const [nextMinute, nextHour] = [Math.ceil(now / minute) * minute, Math.ceil(now / hour) * hour];
  add('records', now, nextMinute, now);
  add('minute', nextMinute, nextHour, now);
  add('hour', nextHour, today + day, now);
  add('all', now, today + day, now);
  for (let start = today + day; start < end; start += day) {
    const from = start + time;
    const isLast = start + day > end;
    if (!isLast) add('day', start, start + day, from);
    const exceptAt = isLast ? undefined : from;
    add('hour', start, start + wholeHours, start, exceptAt);
    add('minute', start + wholeHours, start + wholeMinutes, start, exceptAt);
    add('records', start + wholeMinutes, from, start, exceptAt);
    add('all', start, from, start, exceptAt);
  }
  return parts;
}

const iso = (at: number) => new Date(at).toISOString();
