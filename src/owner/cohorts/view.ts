import { type Segment, parseSegment, segmentQuery } from '../../metrics/segments/segment.ts';
import type { Shop } from '../../store/shops.ts';
import { joined, problemIn } from '../view/choices.ts';
import { dateFormat, localeOf } from '../ui/formats.ts';
import { type Visit, shopPath } from '../site.ts';

export const monthCounts = [12, 24, 36] as const;
export const measures = {
  customers: 'Customers',
  revenue: 'Net revenue',
  gross: 'Gross revenue',
} as const;
export const units = { share: 'Per cent', value: 'Values' } as const;

/** What the page of cohorts shows, as its address says it. */
export interface CohortView {
  readonly months: (typeof monthCounts)[number];
  readonly measure: keyof typeof measures;
  readonly unit: keyof typeof units;
  /** Which subscriptions the cohorts are of; undefined for all. */
  readonly segment: Segment | undefined;
  /** What of the address was not understood, and what it could say. */
  readonly problem: string | undefined;
  /** The cohorts to compare, such as 2026-03; undefined for the newest that can be. */
  readonly pair: readonly [string | undefined, string | undefined];
  /** The instant at which the page is read, epoch milliseconds. */
  readonly now: number;
}

const defaults = { months: 12, measure: 'customers', unit: 'share' } as const;
const isMonth = (text: string) => /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);

/** Reads an address; what is not known is the default, with the problem. */
export function cohortViewOf(query: URLSearchParams, now: number): CohortView {
  const text = (name: string) => query.get(name) ?? '';
  const known = <Name extends string>(names: Readonly<Record<Name, string>>, name: string) =>
    (Object.keys(names) as Name[]).find((each) => each === text(name));
  const month = (name: string) => (isMonth(text(name)) ? text(name) : undefined);
  const { segment, problem } = parseSegment(query);
  const measure = known(measures, 'of') ?? defaults.measure;
  const isUnknown = measure === 'gross' && segment !== undefined;
  const unknown = problemIn(query, {
    months: ['a number of months', monthCounts.map(String)],
    of: ['a measure', Object.keys(measures)],
    as: ['a unit', Object.keys(units)],
  });
  const problems = [
    problem,
    isUnknown && 'Gross revenue is not known for segments. This is net revenue.',
    unknown,
    ...['a', 'b']
      .map(text)
      .filter((each) => each !== '' && !isMonth(each))
      .map((each) => `“${each}” is not a month. Write one as in 2026-03.`),
  ];
  return {
    months: monthCounts.find((each) => String(each) === text('months')) ?? defaults.months,
    measure: isUnknown ? 'revenue' : measure,
    unit: known(units, 'as') ?? defaults.unit,
    segment,
    problem: joined(problems),
    pair: [month('a'), month('b')],
    now,
  };
}

/** The parameters of a view's address: only what differs from the default. */
export function cohortQuery(view: Omit<CohortView, 'now' | 'problem'>): Record<string, string> {
  const { months, measure, unit, segment, pair } = view;
  return Object.fromEntries(
    [
      ['months', months === defaults.months ? undefined : String(months)],
      ['of', measure === defaults.measure ? undefined : measure],
      ['as', unit === defaults.unit ? undefined : unit],
      ...segmentQuery(segment),
      ['a', pair[0]],
      ['b', pair[1]],
    ].filter((each): each is [string, string] => each[1] !== undefined),
  );
}

/** @param rest of the path after `/cohorts` */
export function cohortPath(
  shop: Shop,
  query: Readonly<Record<string, number | undefined>>,
  rest = '',
) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return shopPath(shop, `/cohorts${rest}${text === '' ? '' : `?${text}`}`);
}

/** Names months such as 2026-03 in the reader's locale. */
export function monthFormat(visit: Visit, month: 'short' | 'long'): (month: string) => string {
  const format = dateFormat(localeOf(visit), { month, year: 'numeric' });
  return (text) => format.format(Date.parse(`${text}-01T00:00:00Z`));
}
