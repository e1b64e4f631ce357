import { shopDigitsOf } from '../../money.ts';
import type { Shop } from '../../store/shops.ts';
import { numberFormat } from './formats.ts';

/** Whom numbers and dates are written for. */
export interface Reader {
  readonly request: { readonly headers: { readonly 'accept-language'?: string | undefined } };
}

/** One whose language is not known, such as the reader of an email. */
export const englishReader: Reader = { request: { headers: {} } };

/** The browser's preferred locale; English if it is missing or unsupported. */
export function localeOf({ request }: Reader): string {
  const first = request.headers['accept-language']?.split(',', 1)[0]?.split(';', 1)[0]?.trim();
  try {
    return Intl.NumberFormat.supportedLocalesOf(first ?? '')[0] ?? 'en';
  } catch {
    return 'en';
  }
}

type Format = (value: number) => string;

/** With a true minus sign; Intl writes a hyphen in most locales. */
function formatOf(reader: Reader, options: Intl.NumberFormatOptions = {}): Format {
  const { format } = numberFormat(localeOf(reader), options);
  return (value) => format(value).replace('-', '−');
}

export function countFormat(reader: Reader): Format {
  return formatOf(reader);
}

export function moneyFormat(reader: Reader, { currency }: Pick<Shop, 'currency'>): Format {
  const digits = shopDigitsOf(currency);
  return formatOf(reader, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export function formatCount(reader: Reader, count: number): string {
  return countFormat(reader)(count);
}

/** A number of things, such as `1 payment` or `1,204 payments`. */
export function countOf(reader: Reader, count: number, one: string, more = `${one}s`): string {
  return `${formatCount(reader, count)} ${count === 1 ? one : more}`;
}

/**
 * Formats an amount in the shop's currency, with all its decimal places.
 * @param amount in the currency's major unit, as the API returns it
 */
export function formatMoney(reader: Reader, shop: Pick<Shop, 'currency'>, amount: number): string {
  return moneyFormat(reader, shop)(amount);
}

/** Formats a duration, to a tenth of a millisecond. */
export function formatMilliseconds(reader: Reader, milliseconds: number): string {
  const format = numberFormat(localeOf(reader), { maximumFractionDigits: 1 });
  return `${format.format(milliseconds)} ms`;
}

/** Formats a share as a percentage; the API's four decimals give two decimal places. */
export function formatShare(reader: Reader, share: number): string {
  return formatOf(reader, { style: 'percent', maximumFractionDigits: 2 })(share);
}

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** Formats a size in the largest unit that gives at least 1, with powers of 1,024. */
export function formatBytes(reader: Reader, bytes: number): string {
  const power = Math.min(bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1);
  return numberFormat(localeOf(reader), {
    style: 'unit',
    unit: byteUnits[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(bytes / 1024 ** power);
}
