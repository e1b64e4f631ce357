/** How a shop's currency is written and how far its prices lie from a dollar's. */
export interface Currency {
  /** ISO 4217 */
  code: string;
  /** Digits after the point: 0 for JPY, 2 for USD, 3 for KWD. */
  minorDigits: number;
}

interface Level {
  numerator: number;
  denominator: number;
  /** List prices are whole multiples of this many minor units. */
  step: number;
}

// Integers only, so that no price depends on how a fraction is rounded.
const LEVELS: Readonly<Record<string, Level>> = {
  JPY: { numerator: 150, denominator: 1, step: 10 },
  KWD: { numerator: 3, denominator: 10, step: 50 },
};
const SAME_LEVEL: Level = { numerator: 1, denominator: 1, step: 1 };

/** A price in hundredths of a dollar as a believable list price in minor units of the currency. */
export function listPrice(hundredths: number, { code, minorDigits }: Currency): number {
  const { numerator, denominator, step } = LEVELS[code] ?? SAME_LEVEL;
  const inSteps = divide(hundredths * numerator * 10 ** minorDigits, 100 * denominator * step);
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

/** The quotient of two integers that are not negative, rounded half up. */
function divide(dividend: number, divisor: number): number {
  return Math.floor((2 * dividend + divisor) / (2 * divisor));
}
