import { type Ratio, add, multiply, parseDecimal, zero } from './money.ts';
import type { IntervalUnit } from './vocabulary.ts';

/** What is active with one billing interval. */
export interface ActiveValue {
  readonly unit: IntervalUnit;
  readonly count: number;
  /** Sum of the prices, a decimal. */
  readonly sum: string;
}

/** A billing interval such as `month 3`. */
export type IntervalText = `${IntervalUnit} ${number}`;

export function parseInterval(text: IntervalText): Omit<ActiveValue, 'sum'> {
  const [unit, count] = text.split(' ');
  return { unit: unit as IntervalUnit, count: Number(count) };
}

/** The exact monthly recurring revenue of active subscriptions; round it once. */
export function monthlyValue(groups: readonly ActiveValue[]): Ratio {
  return groups.reduce(
    (sum, group) =>
      add(sum, multiply(parseDecimal(group.sum), monthlyFactor(group.unit, group.count))),
    zero,
  );
}

const monthlyFactors: Readonly<Record<IntervalUnit, Ratio>> = {
  day: { numerator: 365n, denominator: 12n },
  week: { numerator: 365n, denominator: 84n },
  month: { numerator: 1n, denominator: 1n },
  year: { numerator: 1n, denominator: 12n },
};

/** How much of the price of one billing cycle counts for a month. */
export function monthlyFactor(unit: IntervalUnit, count: number): Ratio {
  const { numerator, denominator } = monthlyFactors[unit];
  return { numerator, denominator: denominator * BigInt(count) };
}
