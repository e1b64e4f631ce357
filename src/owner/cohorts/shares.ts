import type { Cohort } from '../../metrics/cohorts.ts';
import {
  type Share,
  significanceOfShares,
  minCases,
  minRated,
} from '../../metrics/significance.ts';
import type { CohortView } from './view.ts';

type Measure = CohortView['measure'];

const indexOf = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;

/** What a cohort is measured by, in each month since its own. */
export const valuesOf = ({ retained, mrr }: Cohort, measure: Measure): readonly number[] =>
  measure === 'customers' ? retained : mrr;

/** What its values are shares of: its customers, or what they brought at the end of its own month. */
export const sizeOf = (cohort: Cohort, measure: Measure): number =>
  measure === 'customers' ? cohort.customers : (cohort.mrr[0] ?? 0);

/** A share of a number of customers; of money, which is no number of cases, as a share of more than a few. */
export const rateOf = (measure: Measure, share: number, customers: number): Share => ({
  share,
  of: measure === 'customers' ? customers : minRated,
});

/** Undefined for a month that has not begun, and for a cohort that brought nothing. */
export function shareOf(cohort: Cohort, measure: Measure, since: number): number | undefined {
  const [value, size] = [valuesOf(cohort, measure)[since], sizeOf(cohort, measure)];
  return value === undefined || size === 0 ? undefined : value / size;
}

/** The number of months since its own that are over; the month after them is the current one. */
export function monthsOver({ month }: Pick<Cohort, 'month'>, now: number): number {
  return indexOf(new Date(now).toISOString().slice(0, 7)) - indexOf(month);
}

/** All cohorts whose month so far since is over, each counted with its size. */
export function averageShare(
  cohorts: readonly Cohort[],
  measure: Measure,
  since: number,
  now: number,
): Share | undefined {
  const over = cohorts.filter((each) => since < monthsOver(each, now));
  const sum = (of: (cohort: Cohort) => number) => over.reduce((total, each) => total + of(each), 0);
  const size = sum((each) => sizeOf(each, measure));
  const share = sum((each) => valuesOf(each, measure)[since] ?? 0) / size;
  return size === 0 ? undefined : rateOf(measure, share, size);
}

/** Two cohorts in the last month since their own that is over for both. */
export interface Comparison {
  readonly cohorts: readonly [Cohort, Cohort];
  readonly since: number;
  readonly shares: readonly [number, number];
}

/** Whether two cohorts may differ by chance in the customers that they kept. */
export function isChance({ cohorts: [first, second], shares: [a, b] }: Comparison): boolean {
  const significance = significanceOfShares(
    { share: b, of: second.customers },
    { share: a, of: first.customers },
  );
  return significance.doubt !== undefined;
}

/** Those with too few customers to be judged. */
export const smallOnes = ({ cohorts }: Comparison) =>
  cohorts.filter(({ customers }) => customers < minCases);

/** After so many months, cohorts are compared by default. */
const usualMonths = 3;

/** Why a month cannot be compared, or not with the other one. */
export type Obstacle = 'not shown' | 'too young' | 'without MRR' | 'twice';

/** The months to compare, as the address has them. */
type Asked = Pick<CohortView, 'pair' | 'measure'>;

/** Why the cohort of a month cannot be compared with any other. */
export function obstacleOf(
  cohorts: readonly Cohort[],
  month: string,
  measure: Measure,
  now: number,
): Obstacle | undefined {
  const cohort = cohorts.find((each) => each.month === month);
  if (!cohort) return 'not shown';
  if (monthsOver(cohort, now) < 2) return 'too young';
  return shareOf(cohort, measure, 0) === undefined ? 'without MRR' : undefined;
}

/** The months to compare that are not compared. */
export function obstaclesTo(
  cohorts: readonly Cohort[],
  { pair, measure }: Asked,
  now: number,
): { readonly month: string; readonly obstacle: Obstacle }[] {
  return [...new Set(pair)].flatMap((month) => {
    if (month === undefined) return [];
    const isTwice = pair.every((each) => each === month);
    const obstacle = obstacleOf(cohorts, month, measure, now) ?? (isTwice ? 'twice' : undefined);
    return obstacle ? { month, obstacle } : [];
  });
}

/**
 * The cohorts to compare; else the newest one with another before it of which the usual number of months is over, or
 * fewer if there is none, and the one before it.
 */
export function compare(
  cohorts: readonly Cohort[],
  { pair, measure }: Asked,
  now: number,
): Comparison | undefined {
  const lastOver = (each: Cohort) => monthsOver(each, now) - 1;
  const comparable = cohorts.filter(
    ({ month }) => obstacleOf(cohorts, month, measure, now) === undefined,
  );
  const find = (month: string | undefined) => comparable.find((each) => each.month === month);
  const asked = find(pair[0]);
  const free = find(pair[1])
    ? comparable.filter(({ month }) => month !== pair[1])
    : comparable.slice(1);
  const first = asked ?? free.findLast((each) => lastOver(each) >= usualMonths) ?? free[0];
  const others = comparable.filter((each) => each !== first);
  const before = others.findLast(({ month }) => month < (first?.month ?? ''));
  const second = others.find(({ month }) => month === pair[1]) ?? before ?? others[0];
  if (!first || !second) return undefined;
  const since = Math.min(lastOver(first), lastOver(second));
  const [a, b] = [shareOf(first, measure, since), shareOf(second, measure, since)];
  if (a === undefined || b === undefined) return undefined;
  return { cohorts: [first, second], since, shares: [a, b] };
}
