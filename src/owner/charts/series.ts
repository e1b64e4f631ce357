import { day } from '../../metrics/bounds.ts';
import type { ShopVisit } from '../pages.ts';
import { type View, viewPath } from '../view/view.ts';
import {
  dateFormat,
  formatShare,
  localeOf,
  numberFormat,
  countFormat,
  moneyFormat,
} from '../ui/formats.ts';
import type { Chart, Grain, Tick, Time, Series } from './chart.ts';
import { shopDigitsOf } from '../../money.ts';
import { shopPath } from '../site.ts';

interface Dated {
  /** A UTC day, such as 2026-11-20. */
  readonly day: string;
}

/** Daily bars would be too thin beyond so many days, and weekly ones beyond 53, or of as many as one may choose. */
const maxDays = { day: 45, week: 53 * 7, chosenWeek: 3 * 366 } as const;
/** Bars that hold fewer on average are of weeks, if there are at least two. */
const minHeld = 5;

/** @param held how many a series counts in all these days, if it counts */
const grainFor = (days: number, held = Infinity): Grain =>
  days > maxDays.week
    ? 'month'
    : days > maxDays.day || (days > 14 && held < days * minHeld)
      ? 'week'
      : 'day';

const grainsFor = (days: number): readonly Grain[] => [
  ...(days <= 2 * maxDays.day ? (['day'] as const) : []),
  ...(days > 14 && days <= maxDays.chosenWeek ? (['week'] as const) : []),
  ...(days > maxDays.day ? (['month'] as const) : []),
];

/**
 * The days of a period one by one, or 7 together, counted back from the last day, so that the first may be shorter, or
 * by months of the calendar.
 * @param days consecutive, oldest first
 */
export function spansOf<Row extends Dated>(
  days: readonly Row[],
  grain = grainFor(days.length),
): Row[][] {
  const first = days.length % 7;
  const keys = {
    day: (_: Row, index: number) => index,
    week: (_: Row, index: number) => Math.floor((index - first) / 7),
    month: ({ day: of }: Row) => of.slice(0, 7),
  } as const;
  return [...Map.groupBy<string | number, Row>(days, keys[grain]).values()];
}

/** The same without those at both ends of which only a part is there. */
export function wholeSpansOf<Row extends Dated>(days: readonly Row[]): Row[][] {
  const grain = grainFor(days.length);
  const isWhole = (span: readonly Row[]) => {
    const [start, after] = [span[0]?.day ?? '', Date.parse(span.at(-1)?.day ?? '') + day];
    return grain === 'month'
      ? start.endsWith('-01') && new Date(after).getUTCDate() === 1
      : span.length === (grain === 'week' ? 7 : 1);
  };
  return spansOf(days, grain).filter(isWhole);
}

const spanNames = { day: 'day', week: '7 days', month: 'month' };

/**
 * What charts over the days of a period share.
 * @param days consecutive, oldest first
 * @param held how many its largest series counts in all, if it has bars of counts
 */
export function overTime<Row extends Dated>(
  visit: ShopVisit & { readonly view: View },
  days: readonly Row[],
  held?: number,
) {
  const offered = grainsFor(days.length);
  const asked = visit.query.get('per');
  const grain = offered.find((each) => each === asked) ?? grainFor(days.length, held);
  const spans = spansOf(days, grain);
  const frame = {
    ...timesOf(visit, spans, grain),
    initial: 'last',
    grains: { drawn: grain, offered },
  } as const;
  return {
    spans,
    frame,
    span: spanNames[grain],
    /** For each of the spans, that of the period compared with, if it has one. */
    paired<Other extends Dated>(others: readonly Other[]): (Other[] | undefined)[] {
      const found = spansOf(others, grain);
      // Weeks are counted back from the end. Of a period that begins within a month, only the last months are alike.
      const isOfEnd = grain === 'week' || (grain === 'month' && !days[0]?.day.endsWith('-01'));
      const skipped = isOfEnd ? found.length - spans.length : 0;
      return spans.map((_, index) => found[index + skipped]);
    },
    /** The pages of what happened in each of its times. */
    rows: (path: string, filter?: Readonly<Record<string, string>>) =>
      frame.times.map(({ first, last }) =>
        viewPath(shopPath(visit.shop, path), visit.view, { ...filter, first, last }),
      ),
  };
}

/**
 * The times of a chart. Its axis has dates up to 45 days, and months beyond, with the year where it changes.
 * @param spans of consecutive days, oldest first
 */
export function timesOf(
  visit: ShopVisit,
  spans: readonly (readonly Dated[])[],
  grain: Grain = grainFor(spans.flat().length),
): Pick<Chart, 'times' | 'timeHeading'> {
  const locale = localeOf(visit);
  const format = (options: Intl.DateTimeFormatOptions) => dateFormat(locale, options);
  const full = format({ dateStyle: 'medium' });
  const ends = spans.map((span) => [span[0]?.day ?? '', span.at(-1)?.day ?? ''] as const);
  const ticks = ticksOf(ends, format, grain);
  const times = ends.map(([first, last], index): Time => {
    const days = spans[index]?.length ?? 0;
    const shorter = days === 1 ? ' (1 day)' : ` (${days} days)`;
    return {
      full:
        full.formatRange(Date.parse(first), Date.parse(last)) +
        (grain === 'week' && days < 7 ? shorter : ''),
      first,
      last,
      tick: ticks.get(index),
    };
  });
  return { times, timeHeading: timeHeadings[grain] };
}

const timeHeadings = { day: 'Day (UTC)', week: '7 days (UTC)', month: 'Month (UTC)' };

/** What the axis could say, by the index of its time. */
function ticksOf(
  ends: readonly (readonly [first: string, last: string])[],
  format: (options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat,
  grain: Grain,
): ReadonlyMap<number, Tick> {
  const lengthMs = Date.parse(ends.at(-1)?.[1] ?? '') - Date.parse(ends[0]?.[0] ?? '');
  const isLong = lengthMs >= maxDays.day * day;
  // A year is written in place of its first month, which has no room for both.
  const [plain, withYear] = isLong
    ? [format({ month: 'short' }), format({ year: 'numeric' })]
    : [format({ day: 'numeric', month: 'short' }), format({ dateStyle: 'medium' })];
  const monthAt = (index: number) => ends[index]?.[1].slice(0, 7);
  // The first month has a place if it has only just begun.
  const isEarly = grain === 'month' || Number(ends[0]?.[0].slice(8)) <= 7;
  const indexes = isLong
    ? ends.flatMap((_, index) =>
        (index > 0 || isEarly) && monthAt(index) !== monthAt(index - 1) ? index : [],
      )
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
  const money = moneyFormat(visit);
  const shortMoney = shortFormat(locale, { style: 'currency', currency });
  const percent = { style: 'percent', maximumFractionDigits: 1 } as const;
  return {
    counts: {
      format: countFormat(visit),
      formatShort: shortFormat(locale, {}),
      unit: 1,
      isMoney: false,
    },
    amounts: {
      format: money,
      // Three digits would cut an amount off within its cents.
      formatShort: (value) =>
        Math.abs(value) < 100 && !Number.isInteger(value) ? money(value) : shortMoney(value),
      unit: 10 ** -shopDigitsOf(currency),
      isMoney: true,
    },
    shares: {
      format: (share) => formatShare(visit, share),
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
  before?: readonly (Row | undefined)[],
): Series {
  const valuesBefore = before?.map((row) => (row === undefined ? null : valueOf(row)));
  return { name, tone, values: rows.map(valueOf), before: valuesBefore };
}

/** @param unit the smallest unit of the values; summing whole units keeps amounts exact */
export function sumOf<Row>(valueOf: (row: Row) => number, unit = 1) {
  return (rows: readonly Row[]): number =>
    rows.reduce((sum, row) => sum + Math.round(valueOf(row) / unit), 0) / Math.round(1 / unit);
}
