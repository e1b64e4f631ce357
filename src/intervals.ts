import type { IntervalUnit } from './vocabulary.ts';

const day = 86_400_000;

/**
 * `count` units after `from`, or before it if negative; epoch milliseconds, UTC. In a month that is too
 * short the date becomes its last day. Always add to the original `from`; otherwise later dates would keep the shorter day.
 */
export function addInterval(from: number, unit: IntervalUnit, count: number): number {
  if (unit === 'day') return from + count * day;
  if (unit === 'week') return from + count * 7 * day;
  const date = new Date(from);
  const months = date.getUTCMonth() + (unit === 'year' ? 12 * count : count);
  const years = Math.floor(months / 12);
  const year = date.getUTCFullYear() + years;
  const month = months - 12 * years;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const dayAt = Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay));
  return dayAt + (from - Math.floor(from / day) * day);
}

/** An exact fraction. */
interface Factor {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const monthlyFactors: Readonly<Record<IntervalUnit, Factor>> = {
  day: { numerator: 365n, denominator: 12n },
  week: { numerator: 365n, denominator: 84n },
  month: { numerator: 1n, denominator: 1n },
  year: { numerator: 1n, denominator: 12n },
};

/** How much of the price of one billing cycle counts for a month. */
export function monthlyFactor(unit: IntervalUnit, count: number): Factor {
  const { numerator, denominator } = monthlyFactors[unit];
  return { numerator, denominator: denominator * BigInt(count) };
}
