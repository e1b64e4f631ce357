import { isoTime } from '../iso-time.ts';
/** An interval of time, composed of the ledger's whole days, hours and minutes, and of remainders. */
export interface Bounds {
  readonly pieces: readonly Piece[];
  readonly ends: readonly End[];
}

/** Whole days, hours or minutes. ISO 8601 texts; includes its start, excludes its end. */
interface Piece {
  readonly grain: 'day' | 'hour' | 'minute';
  readonly from: string;
  readonly until: string;
}

/** A part of a day for which the facts are read directly. */
interface End {
  readonly from: string;
  readonly until: string;
  /** Whether it is what whole hours and minutes leave over; else what whole days leave over. */
  readonly isFine: boolean;
}

const minute = 60_000;
const hour = 60 * minute;
export const day = 24 * hour;

const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;
const ceiling = (at: number, unit: number) => Math.ceil(at / unit) * unit;
/** The UTC day, such as 2026-11-20. */
export const isoDay = (at: number): string => isoTime(at).slice(0, 10);

/** @param from, until epoch milliseconds; the interval includes its start and excludes its end */
export function boundsOf(from: number, until: number): Bounds {
  const days = divide([from, until], day);
  const hours = days.ends.map((each) => divide(each, hour));
  const minutes = hours.flatMap(({ ends }) => ends.map((each) => divide(each, minute)));
  return {
    pieces: [
      ...piecesOf('day', [days]),
      ...piecesOf('hour', hours),
      ...piecesOf('minute', minutes),
    ],
    ends: [...endsOf(false, [days]), ...endsOf(true, minutes)],
  };
}

const piecesOf = (grain: Piece['grain'], parts: readonly Division[]): Piece[] =>
  parts.flatMap(({ whole }) => intervalOf(whole).map((each) => ({ grain, ...each })));

const endsOf = (isFine: boolean, parts: readonly Division[]): End[] =>
  parts.flatMap(({ ends }) => ends.flatMap(intervalOf).map((each) => ({ isFine, ...each })));

type Span = readonly [from: number, until: number];

interface Division {
  readonly whole: Span;
  readonly ends: readonly [Span, Span];
}

/** The whole units of an interval, and what is left at its ends: all of it if it has none. */
function divide([from, until]: Span, unit: number): Division {
  const first = Math.min(ceiling(from, unit), until);
  const last = Math.max(floor(until, unit), first);
  return {
    whole: [first, last],
    ends: [
      [from, first],
      [last, until],
    ],
  };
}

/** As texts; none if it is empty. */
const intervalOf = ([from, until]: Span) =>
  from < until ? [{ from: isoTime(from), until: isoTime(until) }] : [];

/** Part of a shop's past. Epoch milliseconds; includes `from`, excludes `until`. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** The 30 × 24 h before an instant. */
export const monthBefore = (now: number): Period => ({ from: now - 30 * day, until: now });

/**
 * The last instant before a time, ISO 8601: what happens exactly at the end of a past period is not yet in it.
 * Records have whole milliseconds.
 */
export const lastBefore = (at: number): string => isoTime(at - 1).replace('Z', '999Z');

/** Everything from an instant on: the rest of its UTC day, and the day after it. */
export function restOfTime(from: number): { readonly end: Interval; readonly days: string } {
  const days = ceiling(from, day);
  return { end: [isoTime(from), isoTime(days)], days: isoTime(days) };
}

/** The whole UTC days of an interval, and what is left at its ends. */
export function wholeDaysOf(
  from: number,
  until: number,
): { readonly days: Interval; readonly ends: readonly [Interval, Interval] } {
  const { whole, ends } = divide([from, until], day);
  return { days: textOf(whole), ends: [textOf(ends[0]), textOf(ends[1])] };
}

const textOf = ([from, until]: Span): Interval => [isoTime(from), isoTime(until)];

/** An interval of which what happened is added (sign 1) or taken away (sign -1). */
export interface SignedInterval {
  readonly interval: Interval;
  readonly sign: 1 | -1;
}

/**
 * An interval as UTC months: those between the months' starts nearest to its ends, and what they lack or have too
 * much at its ends.
 */
export function nearestMonthsOf({ from, until }: Period): {
  readonly months: Interval;
  readonly ends: readonly SignedInterval[];
} {
  const [first, last] = [nearestMonth(from), nearestMonth(until)];
  const months = textOf([first, last]);
  // Without a month in between, the ends could overlap.
  if (first === last) return { months, ends: [signedOf(from, until)] };
  return { months, ends: [signedOf(from, first), signedOf(last, until)] };
}

/** What is to add to get from one instant to another. */
const signedOf = (from: number, to: number): SignedInterval =>
  from <= to
    ? { interval: textOf([from, to]), sign: 1 }
    : { interval: textOf([to, from]), sign: -1 };

function nearestMonth(at: number): number {
  const date = new Date(at);
  const startOf = (months: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
  const [start, next] = [startOf(0), startOf(1)];
  return at - start < next - at ? start : next;
}

/** ISO 8601 texts; includes its start, excludes its end. */
export type Interval = readonly [from: string, until: string];

/**
 * The instant from which a period is seen, epoch milliseconds: now, or its last one, because what happens exactly at
 * the end of a past period is not yet in it.
 */
export const seenFrom = ({ until }: Period, now: number): number =>
  until === now ? now : until - 1;
