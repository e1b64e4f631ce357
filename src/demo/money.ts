/** The currency of a shop. */
export interface Currency {
  /** ISO 4217 */
  code: string;
  /** Decimal places: 0 for JPY, 2 for USD, 3 for KWD. */
  minorDigits: number;
}

/** Converts US dollar prices to realistic prices in another currency. */
interface PriceLevel {
  numerator: number;
  denominator: number;
  /** List prices are whole multiples of this many minor units. */
  step: number;
}

// Integers only, so that no price depends on floating-point rounding.
const PRICE_LEVELS: Readonly<Record<string, PriceLevel>> = {
  JPY: { numerator: 150, denominator: 1, step: 10 },
  KWD: { numerator: 3, denominator: 10, step: 50 },
};
const SAME_LEVEL: PriceLevel = { numerator: 1, denominator: 1, step: 1 };

/** A realistic list price, in minor units of the currency, for a price in US cents. */
export function listPrice(cents: number, { code, minorDigits }: Currency): number {
  const { numerator, denominator, step } = PRICE_LEVELS[code] ?? SAME_LEVEL;
  const inSteps = divide(cents * numerator * 10 ** minorDigits, 100 * denominator * step);
  return Math.max(1, inSteps) * step;
}

/** An integer percentage off a price in minor units, rounded half up. */
export function percentOff(minorUnits: number, percent: number): number {
  return divide(minorUnits * (100 - percent), 100);
}

/** Minor units as a decimal string with exactly the currency's digits. */
export function formatMinor(minorUnits: number, minorDigits: number): string {
  if (minorDigits === 0) return String(minorUnits);
  const text = String(minorUnits).padStart(minorDigits + 1, '0');
  return `${text.slice(0, -minorDigits)}.${text.slice(-minorDigits)}`;
}

/** The quotient of two non-negative integers, rounded half up. */
function divide(dividend: number, divisor: number): number {
  return Math.floor((2 * dividend + divisor) / (2 * divisor));
}
