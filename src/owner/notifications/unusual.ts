import type { DayOfHistory } from '../../metrics/figures.ts';

type Counted = 'cancelled' | 'failedPayments' | 'newSubscribers';
/** The counts of a day that are compared. */
export type DayOfCounts = Pick<DayOfHistory, Counted | 'day'>;

/** A day's count that is far from what is usual, in the direction that is bad. */
export interface UnusualCount {
  readonly field: Counted;
  readonly count: number;
  /** The mean of the days before. */
  readonly usual: number;
}

/** The days that say what is usual: at least one of each day of a month. */
export const usualDays = 35;
/** Fewer are never unusual, however few are usual. */
const leastDifference = 5;

const directions: Readonly<Record<Counted, 1 | -1>> = {
  cancelled: 1,
  failedPayments: 1,
  newSubscribers: -1,
};

/**
 * The counts of the last day that are worse than on each of the 35 days before, by at least 5 and by more than three
 * standard deviations from their mean. Counts of independent events vary by the square root of their mean.
 * @param days consecutive, oldest first; with fewer than 36, nothing is unusual
 */
export function findUnusual(days: readonly DayOfCounts[]): UnusualCount[] {
  const [last, before] = [days.at(-1), days.slice(-usualDays - 1, -1)];
  if (last === undefined || before.length < usualDays) return [];
  return (Object.keys(directions) as Counted[]).flatMap((field) => {
    const sign = directions[field];
    const counts = before.map((day) => day[field]);
    const usual = counts.reduce((sum, count) => sum + count, 0) / usualDays;
    const worse = sign * (last[field] - usual);
    const isWorst = counts.every((count) => sign * last[field] > sign * count);
    return isWorst && worse >= leastDifference && worse > 3 * Math.sqrt(usual)
      ? [{ field, count: last[field], usual }]
      : [];
  });
}
