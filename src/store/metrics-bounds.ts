/** How an interval of time is put together from the ledger's whole days and hours. */
export interface Bounds {
  /** Ragged ends, shorter than an hour each, for which the facts themselves are read. */
  readonly ends: readonly [Interval, Interval];
  readonly hours: readonly [Interval, Interval];
  readonly days: Interval;
}

/** ISO 8601 texts; closed at the start, open at the end. */
export type Interval = readonly [from: string, until: string];

const hour = 3_600_000;
export const day = 24 * hour;

const floor = (at: number, unit: number) => Math.floor(at / unit) * unit;
const ceiling = (at: number, unit: number) => Math.ceil(at / unit) * unit;
const interval = (from: number, until: number): Interval => [
  new Date(from).toISOString(),
  new Date(until).toISOString(),
];

/**
 * @param from, until epoch milliseconds, at least two days apart; the interval is closed at its start
 * and open at its end
 */
export function boundsOf(from: number, until: number): Bounds {
  return {
    ends: [interval(from, ceiling(from, hour)), interval(floor(until, hour), until)],
    hours: [
      interval(ceiling(from, hour), ceiling(from, day)),
      interval(floor(until, day), floor(until, hour)),
    ],
    days: interval(ceiling(from, day), floor(until, day)),
  };
}

/** What comes at or after an instant: the rest of its UTC day, and the day from which all days count. */
export function restOfTime(from: number): { readonly end: Interval; readonly days: string } {
  const days = ceiling(from, day);
  return { end: interval(from, days), days: new Date(days).toISOString() };
}
