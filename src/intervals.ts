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
