import type { Line } from './records.ts';

/** An amount in the currency's smallest unit. */
export function minorUnits(amount: string | number, digits: number): bigint {
  const [whole = '', fraction = ''] = String(amount).split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

/** The JSON number for an amount in smallest units. */
export function toNumber(units: bigint, digits: number): number {
  const text = String(units < 0n ? -units : units).padStart(digits + 1, '0');
  const point = text.length - digits;
  const value = Number(`${text.slice(0, point)}.${text.slice(point)}`);
  return units < 0n ? -value : value;
}

/** Numerator / denominator, rounded to the nearest integer, halves away from zero. */
export function rounded(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n) return -rounded(-numerator, denominator);
  const whole = numerator / denominator;
  return (numerator % denominator) * 2n >= denominator ? whole + 1n : whole;
}

export function priceOf(lines: readonly Line[], digits: number): bigint {
  let sum = 0n;
  for (const { currentPrice, quantity } of lines) {
    sum += minorUnits(currentPrice, digits) * BigInt(quantity);
  }
  return sum;
}
