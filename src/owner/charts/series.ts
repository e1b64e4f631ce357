import { day } from '../../metrics/bounds.ts';
import type { ShopVisit } from '../pages.ts';
import { type View, daysPath } from '../view/view.ts';
import { dateFormat, localeOf, numberFormat, countFormat, moneyFormat } from '../ui/formats.ts';
import type { Chart, Tick, Time, Series } from './chart.ts';
import { shopDigitsOf } from '../../money.ts';
import { shopPath } from '../site.ts';

interface Dated {
  /** A UTC day, such as 2026-11-20. */
  readonly day: string;
}

/** Daily bars would be too thin beyond so many days. */
const maxDailyDays = 45;
/** And bars of 7 days beyond these; then they are of 28 days. */
const maxWeeklyDays = 3 * 366;

const lengthFor = (days: number) => (days <= maxDailyDays ? 1 : days <= maxWeeklyDays ? 7 : 28);

/**
 * The days of a period one by one, or 7 or 28 together, counted back from the last day, so that the first may be
 * shorter.
 * @param days consecutive, oldest first
 */
export function spansOf<Row extends Dated>(days: readonly Row[]): Row[][] {
  const length = lengthFor(days.length);
  const first = days.length % length;
  const starts = [
    ...(first === 0 ? [] : [0]),
    ...Array.from(
      { length: Math.floor(days.length / length) },
      (_, index) => first + length * index,
    ),
  ];
  return starts.map((start, index) => days.slice(start, starts[index + 1]));
}

/** What the spans of a chart are, after "per" or "every". */
function spanName(spans: readonly (readonly Dated[])[]): string {
  const length = longestOf(spans);
  return length === 1 ? 'day' : `${length} days`;
}

/**
 * What charts over the days of a period share.
 * @param days consecutive, oldest first
 */
export function overTime<Row extends Dated>(
  visit: ShopVisit & { readonly view: View },
  days: readonly Row[],
) {
  const spans = spansOf(days);
  const frame = { ...timesOf(visit, spans), initial: 'last' } as const;
  return {
    spans,
    frame,
    span: spanName(spans),
    /** The pages of what happened in each of its times. */
    rows: (path: string, filter?: Readonly<Record<string, string>>) =>
      frame.times.map((time) => daysPath(shopPath(visit.shop, path), visit.view, time, filter)),
  };
}

const longestOf = (spans: readonly (readonly Dated[])[]) =>
  Math.max(1, ...spans.map((span) => span.length));

/**
 * The times of a chart. Its axis has dates up to 45 days, and months beyond, with the year where it changes.
 * @param spans of consecutive days, oldest first
 */
export function timesOf(
  visit: ShopVisit,
  spans: readonly (readonly Dated[])[],
): Pick<Chart, 'times' | 'timeHeading'> {
  const locale = localeOf(visit);
  const format = (options: Intl.DateTimeFormatOptions) => dateFormat(locale, options);
  const full = format({ dateStyle: 'medium' });
  const longest = longestOf(spans);
  const ends = spans.map((span) => [span[0]?.day ?? '', span.at(-1)?.day ?? ''] as const);
  const ticks = ticksOf(ends, format);
  const times = ends.map(([first, last], index): Time => {
    const days = spans[index]?.length ?? 0;
    const shorter = days === 1 ? ' (1 day)' : ` (${days} days)`;
    return {
      full: full.formatRange(Date.parse(first), Date.parse(last)) + (days < longest ? shorter : ''),
      first,
      last,
      tick: ticks.get(index),
    };
  });
  return { times, timeHeading: longest === 1 ? 'Day (UTC)' : `${longest} days (UTC)` };
}

/** What the axis could say, by the index of its time. */
function ticksOf(
  ends: readonly (readonly [first: string, last: string])[],
  format: (options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat,
): ReadonlyMap<number, Tick> {
  const lengthMs = Date.parse(ends.at(-1)?.[1] ?? '') - Date.parse(ends[0]?.[0] ?? '');
  const isLong = lengthMs >= maxDailyDays * day;
  // A year is written in place of its first month, which has no room for both.
  const [plain, withYear] = isLong
    ? [format({ month: 'short' }), format({ year: 'numeric' })]
    : [format({ day: 'numeric', month: 'short' }), format({ dateStyle: 'medium' })];
  const monthAt = (index: number) => ends[index]?.[1].slice(0, 7);
  const indexes = isLong
    ? ends.flatMap((_, index) => (index > 0 && monthAt(index) !== monthAt(index - 1) ? index : []))
    : evenly(ends.length);
  const [first, last] = [yearOf(ends[0]?.[0]), yearOf(ends.at(-1)?.[1])];
  // Days of two years say both; months before the first year that is said are of the one before.
  let shown = isLong || first === last ? first : '';
  return new Map(
    indexes.map((index, place) => {
      const at = ends[index]?.[isLong ? 1 : 0] ?? '';
      const saysYear = yearOf(at) !== shown;
      shown = yearOf(at);
      const label = (saysYear ? withYear : plain).format(Date.parse(at));
      return [index, { label, saysYear, place: isLong ? Number(at.slice(5, 7)) - 1 : place }];
    }),
  );
}

const yearOf = (isoDay = '') => isoDay.slice(0, 4);

/** Four to six evenly spaced indexes. */
function evenly(times: number): number[] {
  const count = Math.min([5, 4, 6].find((each) => times % each === 0) ?? 5, times);
  return Array.from({ length: count }, (_, index) => Math.floor((index * times) / count));
}

/** How a chart writes its values. */
export type Values = Pick<Chart, 'format' | 'formatShort' | 'unit' | 'isMoney'>;

/** The kinds of values that charts show. */
export function unitsOf(
  visit: ShopVisit,
): Readonly<Record<'counts' | 'amounts' | 'shares', Values>> {
  const { currency } = visit.shop;
  const locale = localeOf(visit);
  const percent = { style: 'percent', maximumFractionDigits: 2 } as const;
  return {
    counts: {
      format: countFormat(visit),
      formatShort: shortFormat(locale, {}),
      unit: 1,
      isMoney: false,
    },
    amounts: {
      format: moneyFormat(visit),
      formatShort: shortFormat(locale, { style: 'currency', currency }),
      unit: 10 ** -shopDigitsOf(currency),
      isMoney: true,
    },
    shares: {
      format: numberFormat(locale, percent).format,
      formatShort: numberFormat(locale, percent).format,
      unit: 0.0001,
      isMoney: false,
    },
  };
}

function shortFormat(locale: string, options: Intl.NumberFormatOptions) {
  return numberFormat(locale, {
    ...options,
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format;
}

/** @param before the rows of the period compared with, if the shop has its data */
export function seriesOf<Row>(
  name: string,
  tone: Series['tone'],
  rows: readonly Row[],
  valueOf: (row: Row) => number,
  before?: readonly Row[],
): Series {
  return { name, tone, values: rows.map(valueOf), before: before?.map(valueOf) };
}

/** @param unit the smallest unit of the values; summing whole units keeps amounts exact */
export function sumOf<Row>(valueOf: (row: Row) => number, unit = 1) {
  return (rows: readonly Row[]): number =>
    rows.reduce((sum, row) => sum + Math.round(valueOf(row) / unit), 0) / Math.round(1 / unit);
}
