import { decimalText, minorDigitsOf, unitsOf } from '../money.ts';
import type { Reading } from './fields.ts';

/** How a file writes money. */
export interface AmountFormat {
  /** The decimal separator; a point by default. */
  readonly decimal?: '.' | ',' | undefined;
  /** The separator between groups of three digits; none by default. */
  readonly thousands?: '.' | ',' | ' ' | "'" | undefined;
  /** Whether amounts are whole numbers of the currency's smallest unit, such as cents. */
  readonly minorUnits?: boolean | undefined;
  /** The most decimals that are kept, if that is more than the currency has. */
  readonly maxDecimals?: number | undefined;
  /** The decimals of that unit, where it is not that of ISO 4217. */
  readonly minorUnitDigits?: number | undefined;
  /** Whether further decimals than the currency has are rounded, half away from zero. */
  readonly round?: boolean | undefined;
  /** "zero": amounts below 0 are read as 0. By default they are refused. */
  readonly negatives?: 'zero' | undefined;
  /** Text that may precede or follow the number, such as "$" or "USD". */
  readonly signs?: readonly string[] | undefined;
}

/**
 * Converts an amount to the import's format. Zeros beyond the currency's digits are dropped; other digits
 * there are refused unless the format says to round, or that they are kept.
 * @param minorDigits decimals of the shop's currency
 * @param currency the shop's: amounts with the sign of another one are refused
 */
export function readAmount(
  text: string,
  format: AmountFormat,
  minorDigits: number,
  currency?: string,
): Reading {
  const invalid = { wrong: `must be an amount such as ${exampleOf(format, minorDigits)}` };
  const signs = format.signs ?? [];
  const outer = splitSigns(text, signs);
  const isBelow = format.negatives === 'zero' && outer.bare.startsWith('-');
  const inner = isBelow
    ? splitSigns(outer.bare.slice(1).trim(), signs)
    : { bare: outer.bare, found: [] };
  const { bare } = inner;
  const foreign = [...outer.found, ...inner.found].find(
    (sign) => currency !== undefined && !isSignOf(sign, currency),
  );
  if (foreign !== undefined) {
    return { wrong: `is in ${foreign}, not in the shop's currency, ${currency}` };
  }
  const [whole, fraction] = format.minorUnits
    ? splitMinorUnits(bare, format.minorUnitDigits ?? minorDigits)
    : splitDecimal(bare, format);
  if (whole === undefined || fraction === undefined) return invalid;
  const digits = whole.replace(/^0+(?=\d)/, '');
  if (digits.length > 12) return { wrong: 'must be below 10^12' };
  if (isBelow) return { value: decimalText(0n, minorDigits) };
  const rest = fraction.slice(minorDigits);
  const kept = format.round ? '' : rest.replace(/0+$/, '');
  const decimals = minorDigits + kept.length;
  if (decimals > Math.max(minorDigits, format.maxDecimals ?? 0)) {
    return {
      wrong: format.maxDecimals
        ? `has more than ${format.maxDecimals} decimals; "round": true rounds them`
        : `has more decimals than the shop's currency, which has ${minorDigits}; "round": true rounds them`,
    };
  }
  const units = unitsOf(`${digits}.${fraction}`, decimals);
  const isRoundedUp = format.round && /^[5-9]/.test(rest);
  return { value: decimalText(isRoundedUp ? units + 1n : units, decimals) };
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

/** Takes off a sign before the number and one behind it, as in "$9.99 USD". */
function splitSigns(text: string, signs: readonly string[]) {
  const before = longest(signs.filter((sign) => text.startsWith(sign)));
  const rest = text.slice(before.length);
  const after = longest(signs.filter((sign) => rest.endsWith(sign)));
  const bare = rest.slice(0, rest.length - after.length).trim();
  return { bare, found: [before, after].filter((sign) => sign !== '') };
}

/** "US$" rather than "$". */
function longest(signs: readonly string[]): string {
  return signs.reduce((best, sign) => (sign.length > best.length ? sign : best), '');
}

function exampleOf({ decimal = '.', thousands, minorUnits }: AmountFormat, digits: number): string {
  if (minorUnits) return `${1234 * 10 ** digits} (in the smallest unit)`;
  const whole = `1${thousands ?? ''}234`;
  return digits === 0 ? whole : `${whole}${decimal}${'5'.padEnd(digits, '0')}`;
}

/** The currencies that a sign stands for, most likely first. */
const currenciesBySign: Readonly<Record<string, string>> = {
  $:
    'USD CAD AUD NZD MXN HKD SGD TWD ARS CLP COP UYU DOP CUP BBD BMD BND BSD BZD CVE FJD GYD JMD KYD ' +
    'LRD MOP NAD NIO SBD SRD SVC TOP TTD WST XCD',
  US$: 'USD',
  U$: 'USD UYU',
  R$: 'BRL',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD NIO',
  CA$: 'CAD',
  CAN$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  SG$: 'SGD',
  NT$: 'TWD',
  MX$: 'MXN',
  '€': 'EUR',
  '£': 'GBP EGP FKP GIP LBP SDG SHP SSP SYP',
  'E£': 'EGP',
  '¥': 'JPY CNY',
  '￥': 'JPY CNY',
  'CN¥': 'CNY',
  'JP¥': 'JPY',
  '₹': 'INR',
  RS: 'INR PKR LKR NPR MUR SCR',
  '₨': 'PKR INR LKR NPR MUR SCR',
  KR: 'SEK NOK DKK ISK',
  ZŁ: 'PLN',
  FR: 'CHF XOF XAF XPF BIF DJF GNF KMF RWF CDF',
  FT: 'HUF',
  KČ: 'CZK',
  ЛВ: 'BGN',
  '₽': 'RUB',
  '₺': 'TRY',
  '₩': 'KRW KPW',
  '₪': 'ILS',
  '₫': 'VND',
  '₴': 'UAH',
  '₦': 'NGN',
  '₱': 'PHP CUP',
  '₡': 'CRC SVC',
  '₲': 'PYG',
  '₸': 'KZT',
  '₾': 'GEL',
  '₼': 'AZN',
  '֏': 'AMD',
  '₵': 'GHS',
  'GH₵': 'GHS',
  '฿': 'THB',
  '₮': 'MNT',
  '₭': 'LAK',
  '៛': 'KHR',
  '৳': 'BDT',
  '؋': 'AFN',
  '﷼': 'IRR OMR QAR SAR YER',
};

/** How often an amount is charged, as in "$29/mo" and "19,00 € pro Monat". */
export const perInterval = /\s*(?:\/|\b(?:per|pro|par|por|al)\b)\s*(\p{L}+\.?)$/iu;

/** The currencies that a sign or code stands for, most likely first; undefined for an unknown one. */
export function currenciesOf(sign: string): readonly string[] | undefined {
  const bare = sign.replace(perInterval, '').replaceAll(/[.\s]/g, '').toUpperCase();
  const letters = bare.replace(/\p{Sc}/u, '');
  if (minorDigitsOf(letters) !== undefined) return [letters];
  const [symbol = ''] = /\p{Sc}/u.exec(bare) ?? [];
  return (currenciesBySign[bare] ?? currenciesBySign[symbol])?.split(' ');
}

/** Whether a currency may be written with a sign. What is no known sign says nothing about it. */
export function isSignOf(sign: string, currency: string): boolean {
  return currenciesOf(sign)?.includes(currency) ?? true;
}
