import type { Line } from './records.ts';

/** The decimals of prices, which may have more than their currency. */
export const priceDigits = 12;

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

/** In units of the last decimal of prices. */
export function priceOf(lines: readonly Line[]): bigint {
  let sum = 0n;
  for (const { currentPrice, quantity } of lines) {
    sum += minorUnits(currentPrice, priceDigits) * BigInt(quantity);
  }
  return sum;
}

/** A price as an answer has it: rounded to the digits of its currency. */
export function roundedPrice(price: bigint, digits: number): number {
  return toNumber(rounded(price, 10n ** BigInt(priceDigits - digits)), digits);
}
