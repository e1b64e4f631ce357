import type { Figure } from '../../metrics/figures.ts';
import { type Ratio, roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { Shop } from '../../store/shops.ts';
import { type Html, html } from '../../http/html.ts';
import { type Share, minRated } from '../../metrics/significance.ts';
import type { Visit } from '../site.ts';

/** The reader in whose language numbers and dates are formatted. */
export interface Reader {
  readonly request: { readonly headers: { readonly 'accept-language'?: string | undefined } };
}

/** One whose language is not known, such as the reader of an email. */
export const englishReader: Reader = { request: { headers: {} } };

/** Found once a request, not for each number of its page. */
const locales = new WeakMap<Reader['request'], string>();

/** The browser's preferred locale; English if it is missing or unsupported. */
export function localeOf({ request }: Reader): string {
  const locale = locales.get(request) ?? preferredLocale(request);
  locales.set(request, locale);
  return locale;
}

function preferredLocale(request: Reader['request']): string {
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

export const countFormat = (reader: Reader): Format => formatOf(reader);

/** A reader of amounts in a shop's currency. */
export type ReaderOf = Reader & { readonly shop: Pick<Shop, 'currency'> };

export function moneyFormat(reader: ReaderOf): Format {
  const { currency } = reader.shop;
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

/** With a capital first letter, as a sentence begins. */
export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The same within a sentence. */
export const uncapitalised = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** A number of things, such as `1 payment` or `1,204 payments`. */
export function countOf(reader: Reader, count: number, one: string, more = `${one}s`): string {
  return `${formatCount(reader, count)} ${count === 1 ? one : more}`;
}

/**
 * Formats an amount in the shop's currency, with all its decimal places.
 * @param amount in the currency's major unit, as the API returns it
 */
export function formatMoney(reader: ReaderOf, amount: number): string {
  return moneyFormat(reader)(amount);
}

/** Formats a duration, to a tenth of a millisecond. */
export function formatMilliseconds(reader: Reader, milliseconds: number): string {
  const format = numberFormat(localeOf(reader), { maximumFractionDigits: 1 });
  return `${format.format(milliseconds)} ms`;
}

/** Formats a share as a percentage with one decimal place; none and all have none. */
export function formatShare(reader: Reader, share: number): string {
  const minimumFractionDigits = share === 0 || share === 1 ? 0 : 1;
  return formatOf(reader, { style: 'percent', minimumFractionDigits, maximumFractionDigits: 1 })(
    share,
  );
}

/** The same of some cases; of few, how many of how many, and of none “–”. */
export function formatRate(reader: Reader, { share, of }: Share): string {
  if (of === 0) return '–';
  if (of >= minRated) return formatShare(reader, share);
  return `${formatCount(reader, Math.round(share * of))} of ${formatCount(reader, of)}`;
}

/** What a rate is of, beside it; undefined where few cases say so themselves. */
export function rateBase(reader: Reader, part: number, of: number): Html | undefined {
  if (of < minRated) return undefined;
  return html`<small>${formatCount(reader, part)} of ${formatCount(reader, of)}</small>`;
}

/** A format with a sign, for what is added. */
export const signedFormat =
  (format: Format): Format =>
  (value) =>
    `${value > 0 ? '+' : ''}${format(value)}`;

/** Formats a difference of shares in points, with its sign. */
export function pointsFormat(reader: Reader): Format {
  const format = formatOf(reader, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  // What rounds to 0 has no sign.
  return (share) => signedFormat(format)(Math.round(share * 1000) / 10 || 0);
}

export function formatRatio(reader: Reader, ratio: number): string {
  return formatOf(reader, { maximumFractionDigits: 2 })(ratio);
}

/** Formats the value of a figure. */
export function formatFigure(
  reader: ReaderOf,
  { format }: Pick<Figure, 'format'>,
  value: number,
): string {
  if (format === 'count') return formatCount(reader, value);
  return format === 'money' ? formatMoney(reader, value) : formatShare(reader, value);
}

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** An amount as people write it. */
export const rounded = (value: Ratio, { currency }: Pick<Shop, 'currency'>) =>
  roundHalfAway(value, shopDigitsOf(currency));

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

/** How many formatters of a kind are kept: all that the pages need, in a dozen languages. */
const limit = 300;

const kept: { readonly size: number }[] = [];

/** How many formatters are kept. */
export const keptFormatters = () => kept.reduce((sum, { size }) => sum + size, 0);

/**
 * Keeps what Intl creates, since creating a formatter takes as long as formatting hundreds of values. A browser may
 * ask for any language, so all are dropped once there are too many.
 */
function keeping<Options, Formatter>(
  create: (locale: string, options: Options) => Formatter,
): (locale: string, options: Options) => Formatter {
  const formatters = new Map<string, Formatter>();
  kept.push(formatters);
  return (locale, options) => {
    const key = locale + JSON.stringify(options);
    const found = formatters.get(key);
    if (found !== undefined) return found;
    if (formatters.size === limit) formatters.clear();
    const created = create(locale, options);
    formatters.set(key, created);
    return created;
  };
}

export const numberFormat = keeping(
  (locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
);

/** Of dates in UTC, like all dates of the service, whose months are those of cohorts and charts in every language. */
export const dateFormat = keeping(
  (locale, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, calendar: 'gregory', timeZone: 'UTC' }),
);

/** A time in words; a script shows the exact time, to the second, on hover. */
const timeElement = (at: Date, text: string) =>
  html`<time datetime="${at.toISOString().replace(/\.\d+/, '')}">${text}</time>`;

/** A time in UTC in the reader's locale. */
export function showTime(visit: Visit, at: Date, timeStyle: 'short' | 'medium' = 'short'): Html {
  const format = dateFormat(localeOf(visit), { dateStyle: 'medium', timeStyle });
  return timeElement(at, `${format.format(at)} UTC`);
}

/** The same, with seconds. */
export const showSecond = (visit: Visit, at: Date) => showTime(visit, at, 'medium');

/** A date in UTC. */
export const formatDay = (reader: Reader, at: Date | number) =>
  dateFormat(localeOf(reader), { dateStyle: 'medium' }).format(at);

export const showDay = (visit: Visit, at: Date) => timeElement(at, formatDay(visit, at));

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const ago = new Intl.RelativeTimeFormat('en');

/** How long ago a time was, in the largest whole unit. */
export const showAgo = (at: Date, now: number): Html => timeElement(at, formatAgo(at, now));

export function formatAgo(at: Date, now: number): string {
  const elapsed = now - at.getTime();
  const [unit, milliseconds] = units.find((each) => elapsed >= each[1]) ?? [];
  return unit === undefined
    ? 'less than a minute ago'
    : ago.format(-Math.floor(elapsed / milliseconds), unit);
}
