import { decimalText } from '../money.ts';
import { monthlyValue } from '../mrr.ts';
import { DAY, HOUR } from './calendar.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Basket } from './plans.ts';
import { type Random, chance, integer } from './random.ts';

/** When a subscription's price changed, epoch milliseconds, and its earlier price as a share of the present one. */
export interface PriceChange {
  readonly at: number;
  readonly percent: number;
}

/**
 * If its plan's prices rose, that. Of the others that have lasted, some took more, or paid more once a discount ended; few
 * pay less than before.
 */
export function changePrice(
  random: Random,
  { updatedAt, endAt, plan: { raised } }: Lifecycle,
  createdAt: number,
): PriceChange | undefined {
  const raisedAt = raised && (Math.floor(endAt / DAY) - raised.daysAgo) * DAY + 9 * HOUR;
  if (raised && raisedAt && createdAt < raisedAt && updatedAt > raisedAt) {
    return { at: raisedAt, percent: raised.percent };
  }
  const [first, last] = [createdAt + 20 * DAY, Math.min(updatedAt, endAt) - DAY];
  if (last <= first || !chance(random, 0.16)) return undefined;
  const percent = chance(random, 0.7) ? integer(random, 70, 95) : integer(random, 105, 140);
  return { at: integer(random, first, last), percent };
}

/** What a subscription with this basket was worth a month, and is, with four decimals or more. */
export function valuesOf(
  { total, yearly }: Basket,
  { plan }: Lifecycle,
  minorDigits: number,
  percent: number,
): [before: string, now: string] {
  const { numerator, denominator } = monthlyValue([
    { unit: plan.unit, count: plan.count, sum: decimalText(BigInt(total), minorDigits) },
    { unit: 'year', count: 1, sum: decimalText(BigInt(yearly), minorDigits) },
  ]);
  const units = (share: bigint) => (numerator * share * 10n ** 8n) / (denominator * 100n);
  return [decimalText(units(BigInt(percent)), 8), decimalText(units(100n), 8)];
}
