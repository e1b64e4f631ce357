import { ServiceError } from '../../errors.ts';
import { addInterval } from '../../intervals.ts';
import { isoTime } from '../../iso-time.ts';
import { type Period, day } from '../../metrics/bounds.ts';
import type { SegmentAt } from '../../metrics/segments/subscriptions.ts';
import { type ParsedSegment, type Segment, segmentQuery } from '../../metrics/segments/segment.ts';
import type { ShopVisit } from '../pages.ts';
import { type Reader, formatDay } from '../ui/formats.ts';
import { joined, problemIn } from './choices.ts';

/** The selectable periods up to now, in days. */
export const periods = [7, 30, 90, 365] as const;

/** Calendar months in UTC: how many, the last of which is the current one or `ago` before it. */
export const presets = {
  month: { label: 'Month to date', months: 1, ago: 0 },
  'last-month': { label: 'Last month', months: 1, ago: 1 },
  quarter: { label: 'Quarter to date', months: 3, ago: 0 },
  year: { label: 'Year to date', months: 12, ago: 0 },
} as const;
export type Preset = keyof typeof presets;

/** Of a free period: ten years. More would be more than a page can show. */
const maxDays = 3661;

/**
 * What a period is compared with: the same hours of as many days before, of a preset the same days of the months
 * before, or the same days of the year before.
 */
export const comparisons = { before: 'the period before', year: 'the year before' } as const;
export type Comparison = keyof typeof comparisons;

/** What a page of figures shows, as its address says it. */
export interface View {
  /** Days up to now, a preset, or two UTC days such as 2026-11-20, both included; either may be an instant. */
  readonly range:
    | { readonly days: (typeof periods)[number] }
    | { readonly preset: Preset }
    | { readonly from: string; readonly to: string };
  readonly comparison: Comparison;
  readonly period: Period;
  /** The period compared with. */
  readonly before: Period;
  /** Which subscriptions the figures are of; undefined for all. */
  readonly segment: Segment | undefined;
  /** The instant at which the page is read, epoch milliseconds. */
  readonly now: number;
  /** Why the address was not understood, and what it could say; the default is shown instead. */
  readonly problem: string | undefined;
  /** The parameters of the period that the problem is about. */
  readonly wrongDates: readonly DateName[];
}

/** The parameters of a free period. */
type DateName = 'from' | 'to';

/** What an address has of a view. */
type ViewOfQuery = Pick<View, 'range' | 'comparison'> & Partial<Pick<View, 'segment'>>;

/**
 * Reads `days`, `period`, or `from` and `to`, and `compare`. The default is the last 30 days.
 * @param of the segment that the address has, on pages that show segments
 */
export function viewOf(query: URLSearchParams, now: number, of?: ParsedSegment): View {
  const text = query.get('compare');
  const comparison = text === 'year' ? 'year' : 'before';
  const parsed = parseRange(query, now);
  const range = 'problem' in parsed ? ({ days: 30 } as const) : parsed;
  const period = periodOf(range, now);
  const problems = [
    'problem' in parsed && parsed.problem,
    problemIn(query, { compare: ['a comparison', Object.keys(comparisons)] }),
    of?.problem,
  ];
  return {
    range,
    comparison,
    period,
    before:
      comparison === 'before'
        ? periodBefore(range, period, now)
        : {
            from: yearEarlier(period.from),
            // By its last instant, so that a leap day has a day before it.
            until: yearEarlier(period.until - 1) + 1,
          },
    segment: of?.segment,
    now,
    problem: joined(problems),
    wrongDates: 'problem' in parsed ? parsed.wrongDates : [],
  };
}

/**
 * The same for a file, which has no room for a notice.
 * @throws ServiceError invalid, with the problem
 */
export function understood<V extends Pick<View, 'problem'>>(view: V): V {
  if (view.problem !== undefined) throw new ServiceError('invalid', view.problem);
  return view;
}

/** The segment that the figures of a view are of, as of now; undefined for all subscriptions. */
export function segmentOf({ segment, now }: Pick<View, 'segment' | 'now'>): SegmentAt | undefined {
  return segment && { segment, now };
}

/**
 * The query of a view's address: only what differs from the default.
 * @param more other parameters of the page that it leads to
 */
export function viewQuery(
  { range, comparison, segment }: ViewOfQuery,
  more: Readonly<Record<string, string>> = {},
): URLSearchParams {
  const query = segmentQuery(segment);
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  if ('from' in range) {
    query.set('from', range.from);
    query.set('to', range.to);
  } else if ('preset' in range) query.set('period', range.preset);
  else if (range.days !== 30) query.set('days', String(range.days));
  if (comparison !== 'before') query.set('compare', comparison);
  return query;
}

type Wrong = Pick<View, 'wrongDates'> & { readonly problem: string };

const wrong = (problem: string, ...wrongDates: DateName[]): Wrong => ({ problem, wrongDates });

function parseRange(query: URLSearchParams, now: number): View['range'] | Wrong {
  const textOf = (name: 'days' | 'period' | DateName) => query.get(name) ?? '';
  const [days, from, to] = [textOf('days'), textOf('from'), textOf('to')];
  if (from === '' && to === '') {
    const known = periods.find((each) => String(each) === days);
    if (known !== undefined) return { days: known };
    const asked = days || textOf('period');
    if (asked === '') return { days: 30 };
    if (Object.hasOwn(presets, asked)) return { preset: asked as Preset };
    return wrong(`“${asked}” is not one of the periods. Choose one of them, or two dates.`);
  }
  const [first, end] = [parseStart(from), parseEnd(to)];
  const unknown = [
    ...(first === undefined ? [['from', explainDate('first', from)] as const] : []),
    ...(end === undefined ? [['to', explainDate('last', to)] as const] : []),
  ];
  if (first === undefined || end === undefined) {
    return wrong(unknown.map(([, text]) => text).join(' '), ...unknown.map(([name]) => name));
  }
  if (first < 0) return wrong('The first day is too early. Choose one from 1970-01-01 on.', 'from');
  if (first >= end) {
    return wrong('The first day is after the last one. Exchange the two dates.', 'from', 'to');
  }
  if (first > now) return wrong('The first day is in the future. Choose an earlier one.', 'from');
  if (end - first > maxDays * day) {
    const problem = 'The period is longer than ten years. Choose days that are closer together.';
    return wrong(problem, 'from', 'to');
  }
  return { from, to };
}

/** What is wrong with a date of its own. */
function explainDate(which: 'first' | 'last', text: string): string {
  return text === ''
    ? `The ${which} day is missing. Choose one, too.`
    : `“${text}” is not a date, so there is no ${which} day. Write one as in 2026-11-20.`;
}

/** An instant such as 2026-11-20T12:00:00.000Z, with which a period may begin or end. */
function parseInstant(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function parseStart(text: string): number | undefined {
  return parseInstant(text) ?? parseDay(text);
}

/** When a period ends whose last day is a UTC day, or which ends at an instant. */
function parseEnd(text: string): number | undefined {
  const last = parseDay(text);
  return last === undefined ? parseInstant(text) : last + day;
}

/** The UTC day of a time, such as 2026-11-20. */
export const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Whether a text is a day of the calendar, such as 2026-11-20. */
export const isDay = (text: string) => parseDay(text) !== undefined;

/** The start of a UTC day, epoch milliseconds. */
export function parseDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // 2026-02-31 would be taken for a day in March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : undefined;
}

function periodOf(range: View['range'], now: number): Period {
  if ('days' in range) return { from: now - range.days * day, until: now };
  if ('preset' in range) {
    const { months, ago } = presets[range.preset];
    return {
      from: monthsAgo(now, months, ago),
      until: ago === 0 ? now : monthsAgo(now, months, 0),
    };
  }
  const [from, end] = [parseStart(range.from) as number, parseEnd(range.to) as number];
  return { from, until: Math.min(end, now) };
}

/** When the calendar month, or the last of a few that are a quarter or a year, began. */
function monthsAgo(now: number, months: number, ago: number): number {
  const at = new Date(now);
  const month = Math.floor(at.getUTCMonth() / months) * months - ago * months;
  return Date.UTC(at.getUTCFullYear(), month);
}

function periodBefore(range: View['range'], { from, until }: Period, now: number): Period {
  if ('preset' in range) {
    const { months, ago } = presets[range.preset];
    const since = monthsAgo(now, months, ago + 1);
    // The same days of a shorter month end with it.
    return { from: since, until: ago === 0 ? Math.min(since + until - from, from) : from };
  }
  const length = Math.ceil((until - from) / day) * day;
  return { from: from - length, until: until - length };
}

const yearEarlier = (at: number) => addInterval(at, 'year', -1);

/**
 * The path of another page of figures that shows the same view; for some days of it only, replace its range.
 * @param path of the page, without its query; `#` and an element's id may follow
 */
export function viewPath(
  path: `/app${string}`,
  view: ViewOfQuery,
  more: Readonly<Record<string, string>> = {},
): `/app${string}` {
  const query = viewQuery(view, more);
  return query.size === 0 ? path : (path.replace(/(?=#|$)/, `?${query}`) as `/app${string}`);
}

/** The same segment, up to now. */
export function todayOf(view: View): View {
  const period = { from: view.period.from, until: view.now };
  return { ...view, range: { days: 30 }, comparison: 'before', period };
}

/** What held when its period began: a view of the day before that. */
export function viewOfStart({ period: { from }, segment }: View): ViewOfQuery {
  return {
    range: { from: isoTime(Math.max(from - day, 0)), to: isoTime(from) },
    comparison: 'before',
    segment,
  };
}

/** Some UTC days of a view's period, such as those of a bar, as an address names them; both are included. */
export interface Days {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

/**
 * The UTC days of a period, of which the first and the last may be in part.
 * @param valuesOf what is known of a day, by its start, epoch milliseconds
 */
export function daysOf<Values>(
  { from, until }: Period,
  valuesOf: (at: number) => Values,
): (Values & { readonly day: string })[] {
  const first = Math.floor(from / day);
  return Array.from({ length: Math.max(Math.ceil(until / day) - first, 1) }, (_, index) => {
    const at = (first + index) * day;
    return { day: isoDay(at), ...valuesOf(at) };
  });
}

/** The part of a period that is in some days. */
export function partOf({ from, until }: Period, { first, last }: Days): Period {
  const [start, end] = [first, last].map((text) =>
    text === undefined ? undefined : parseDay(text),
  );
  const since = Math.max(from, start ?? from);
  return { from: since, until: Math.max(since, Math.min(until, (end ?? until) + day)) };
}

/** Why nothing is compared with an earlier period, in a few words for owners. */
export type Gap = 'No earlier data' | 'Earlier data incomplete';

/** @param firstDay the time of the shop's earliest data, epoch milliseconds */
export function gapIn({ from, until }: Period, firstDay: number): Gap | undefined {
  if (firstDay <= from) return undefined;
  return firstDay < until ? 'Earlier data incomplete' : 'No earlier data';
}

/** That earlier prices are not known, if something earlier is shown. Epoch milliseconds. */
export function pricesKnown(visit: ShopVisit, since: number, shownFrom: number): string {
  if (since <= shownFrom) return '';
  return `Prices are known from ${formatDay(visit, since)} on; before that, the first known ones count.`;
}

/** The same in a sentence, or the rest of one. */
export const dataBegins = (visit: Reader, firstDay: number) =>
  `data begins ${formatDay(visit, firstDay)}, too late to compare`;
