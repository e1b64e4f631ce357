/** How an interval of time is composed of the ledger's whole days, hours and minutes. */
export interface Bounds {
  readonly pieces: readonly Piece[];
  /** The remainders at both ends, shorter than a minute, for which the facts are read directly. */
  readonly ends: readonly [End, End];
}

/** Whole days, hours or minutes. ISO 8601 texts; includes its start, excludes its end. */
interface Piece {
  readonly grain: 'day' | 'hour' | 'minute';
  readonly from: string;
  readonly until: string;
}

/** Extends to a full minute, or to `day` if hours and minutes are not stored. */
interface End {
  readonly from: string;
  readonly until: string;
  readonly day: string;
}

const minute = 60_000;
const hour = 60 * minute;
export const day = 24 * hour;

const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;
const ceiling = (at: number, unit: number) => Math.ceil(at / unit) * unit;
const iso = (at: number) => new Date(at).toISOString();

/**
 * @param from, until epoch milliseconds, at least two days apart; the interval includes its start
 * and excludes its end
 */
export function boundsOf(from: number, until: number): Bounds {
  const piece = (grain: Piece['grain'], start: number, end: number): Piece => ({
    grain,
    from: iso(start),
    until: iso(end),
  });
  return {
    pieces: [
      piece('minute', ceiling(from, minute), ceiling(from, hour)),
      piece('hour', ceiling(from, hour), ceiling(from, day)),
      piece('day', ceiling(from, day), floor(until, day)),
      piece('hour', floor(until, day), floor(until, hour)),
      piece('minute', floor(until, hour), floor(until, minute)),
    ],
    ends: [
      { from: iso(from), until: iso(ceiling(from, minute)), day: iso(ceiling(from, day)) },
      { from: iso(floor(until, minute)), until: iso(until), day: iso(floor(until, day)) },
    ],
  };
}

/** Everything from an instant on: the rest of its UTC day, and the day after it. */
export function restOfTime(from: number): { readonly end: Interval; readonly days: string } {
  const days = ceiling(from, day);
  return { end: [iso(from), iso(days)], days: iso(days) };
}

/** The whole UTC days of an interval, and what is left at its ends. */
export function wholeDaysOf(
  from: number,
  until: number,
): { readonly days: Interval; readonly ends: readonly [Interval, Interval] } {
  const first = Math.min(ceiling(from, day), until);
  const last = Math.max(floor(until, day), first);
  return {
    days: [iso(first), iso(last)],
    ends: [
      [iso(from), iso(first)],
      [iso(last), iso(until)],
    ],
  };
}

/** ISO 8601 texts; includes its start, excludes its end. */
export type Interval = readonly [from: string, until: string];
