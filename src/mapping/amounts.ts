import { decimalText } from '../money.ts';
import type { Reading } from './reading.ts';

/** How a file writes money. */
export interface AmountFormat {
  /** The decimal separator; a point by default. */
  readonly decimal?: '.' | ',' | undefined;
  /** The separator between groups of three digits; none by default. */
  readonly thousands?: '.' | ',' | ' ' | "'" | undefined;
  /** Whether amounts are whole numbers of the currency's smallest unit, such as cents. */
  readonly minorUnits?: boolean | undefined;
  /** Whether further decimals than the currency has are rounded, half away from zero. */
  readonly round?: boolean | undefined;
  /** "zero": amounts below 0 are read as 0. By default they are refused. */
  readonly negatives?: 'zero' | undefined;
  /** Text that may precede or follow the number, such as "$" or "USD". */
  readonly signs?: readonly string[] | undefined;
}

/**
 * Converts an amount to the import's format. Zeros beyond the currency's digits are dropped; other digits
 * there are refused unless the format says to round.
 * @param minorDigits decimals of the shop's currency
 */
export function readAmount(text: string, format: AmountFormat, minorDigits: number): Reading {
  const invalid = { wrong: `must be an amount such as ${exampleOf(format, minorDigits)}` };
  const signed = withoutSign(text, format.signs ?? []);
  const isBelow = format.negatives === 'zero' && signed.startsWith('-');
  const bare = isBelow ? withoutSign(signed.slice(1), format.signs ?? []) : signed;
  const [whole, fraction] = format.minorUnits
    ? splitMinorUnits(bare, minorDigits)
    : splitDecimal(bare, format);
  if (whole === undefined || fraction === undefined) return invalid;
  const digits = whole.replace(/^0+(?=\d)/, '');
  if (digits.length > 12) return { wrong: 'must be below 10^12' };
  if (isBelow) return { value: decimalText(0n, minorDigits) };
  const units = BigInt(digits + fraction.slice(0, minorDigits).padEnd(minorDigits, '0'));
  const rest = fraction.slice(minorDigits);
  if (/[^0]/.test(rest) && !format.round) {
    return {
      wrong: `has more decimals than the shop's currency, which has ${minorDigits}; "round": true rounds them`,
    };
  }
  return { value: decimalText(/^[5-9]/.test(rest) ? units + 1n : units, minorDigits) };
}

type Parts = readonly [whole?: string, fraction?: string];

function splitMinorUnits(text: string, minorDigits: number): Parts {
  if (!/^\d{1,18}$/.test(text)) return [];
  const padded = text.padStart(minorDigits + 1, '0');
  const point = padded.length - minorDigits;
  return [padded.slice(0, point), padded.slice(point)];
}

function splitDecimal(text: string, { decimal = '.', thousands }: AmountFormat): Parts {
  const group = thousands === undefined ? '' : `\\d{1,3}(?:[${separator(thousands)}]\\d{3})+|`;
  const match = new RegExp(`^(${group}\\d{1,18})(?:[${decimal}](\\d{1,18}))?$`).exec(text);
  if (!match) return [];
  return [(match[1] ?? '').replaceAll(/\D/g, ''), match[2] ?? ''];
}

/** A space also stands for the no-break spaces that programs write between thousands. */
function separator(thousands: string): string {
  return thousands === ' ' ? ' \\u00a0\\u202f' : thousands;
}

function withoutSign(text: string, signs: readonly string[]): string {
  const before = signs.find((sign) => text.startsWith(sign));
  if (before !== undefined) return text.slice(before.length).trim();
  const after = signs.find((sign) => text.endsWith(sign));
  return after === undefined ? text : text.slice(0, -after.length).trim();
}

function exampleOf({ decimal = '.', thousands, minorUnits }: AmountFormat, digits: number): string {
  if (minorUnits) return `${1234 * 10 ** digits} (in the smallest unit)`;
  const whole = `1${thousands ?? ''}234`;
  return digits === 0 ? whole : `${whole}${decimal}${'5'.padEnd(digits, '0')}`;
}
