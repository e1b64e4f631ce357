import { type Ratio, add, priceDecimals, roundHalfAway, subtract, zero } from '../../money.ts';
import { type IntervalText, monthlyValue, parseInterval } from '../../mrr.ts';
import type { Sql } from '../../store/database.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import { ageBands } from '../churn.ts';
import { minCases, significanceOfCounts, significanceOfShares } from '../significance.ts';
import { type CountedRow, countByValue } from './counted.ts';
import { type Dimension, type ExplainedFigure, type Question, priceSteps } from './question.ts';

/** What is counted in a period for a value of the dimension: `n` of `d`, or a sum. */
interface Count {
  readonly n: number;
  readonly d?: number;
}

export interface ExplainedValue {
  /** As addresses have it; null if it is unknown. */
  readonly value: string | number | null;
  readonly label: string;
  readonly before: Count;
  readonly now: Count;
  /** What its own rate adds to the change of the whole, and what its share of the whole adds. */
  readonly rate?: number | null;
  readonly mix?: number | null;
  /** What it adds in all; null if the whole has no rate in one of the periods. */
  readonly part: number | null;
  /** Whether that may be chance, or there are too few cases to tell. */
  readonly isChance: boolean;
}

/** A figure in two periods, and the parts of its change, which sum to it. Nothing is rounded. */
export interface Explanation {
  readonly figure: ExplainedFigure;
  readonly by: Dimension;
  /** Null for a rate without cases. */
  readonly before: number | null;
  readonly now: number | null;
  readonly change: number | null;
  /** The largest part first. */
  readonly values: readonly ExplainedValue[];
}

/** With more, an explanation takes tenths of a second or more. */
const quickSubscriptions = 100_000;

/** Whether a page may show an explanation that it was not asked for. */
export async function isQuick(sql: Sql, shopId: number): Promise<boolean> {
  const more = await sql`
    select from subscriptions where shop_id = ${shopId}
    order by subscription_id offset ${quickSubscriptions} limit 1`;
  return more.length === 0;
}

/** What explains the change of a figure. @param now epoch milliseconds; both periods end then or earlier */
export async function explain(
  sql: Sql,
  shopId: number,
  question: Question,
  now: number,
): Promise<Explanation> {
  const { figure, by } = question;
  const [rows, planNames] = await Promise.all([
    countByValue(sql, shopId, question, now),
    by === 'plan' ? listPlanNames(sql, shopId) : new Map<number, string>(),
  ]);
  const whole = inPeriods(rows);
  const pairs = [...Map.groupBy(rows, ({ value }) => value)].map(([value, counted]) => ({
    ...(value === null ? unknown : nameOf[by](value, planNames)),
    ...inPeriods(counted),
  }));
  const { values, ...change } =
    figure === 'mrr' || figure === 'newSubscribers'
      ? partsOfSum(pairs, whole, figure === 'mrr')
      : partsOfRate(pairs, whole);
  const inOrder = values.toSorted((a, b) => size(b) - size(a) || (a.label < b.label ? -1 : 1));
  return { figure, by, ...change, values: inOrder };
}

const size = ({ part }: ExplainedValue) => Math.abs(part ?? 0);

const inPeriods = (rows: readonly CountedRow[]): Counted => ({
  before: rows.filter(({ period }) => period === 0),
  now: rows.filter(({ period }) => period === 1),
});

type Counted = Readonly<Record<'before' | 'now', readonly CountedRow[]>>;
/** A value of the dimension, and what is counted for it in both periods. */
type Pair = Pick<ExplainedValue, 'value' | 'label'> & Counted;
type Parts = Omit<Explanation, 'figure' | 'by'>;

/** Exact numbers of subscribers, or monthly values. */
const exact = (rows: readonly CountedRow[]): Ratio =>
  rows.reduce((sum, { n, billed, price }) => {
    const value = billed && monthlyValue([{ ...parseInterval(billed), sum: price }]);
    return add(sum, value ?? { numerator: BigInt(n), denominator: 1n });
  }, zero);
const numberOf = (value: Ratio) => roundHalfAway(value, priceDecimals);

function sumOf({ before, now }: Counted) {
  const [first, last] = [exact(before), exact(now)];
  return [first, last, subtract(last, first)].map(numberOf) as [number, number, number];
}

function partsOfSum(pairs: readonly Pair[], whole: Counted, isMoney: boolean): Parts {
  const [before, now, change] = sumOf(whole);
  const values = pairs.map(({ value, label, ...counted }) => {
    const [first, last, part] = sumOf(counted);
    // Of amounts, any change counts.
    const isChance = !isMoney && significanceOfCounts(first, last).doubt !== undefined;
    return { value, label, before: { n: first }, now: { n: last }, part, isChance };
  });
  return { before, now, change, values };
}

const total = (rows: readonly CountedRow[], of: 'n' | 'd') =>
  rows.reduce((sum, row) => sum + row[of], 0);
const rateOf = ({ n, d }: Required<Count>) => (d === 0 ? null : n / d);

function ratesOf({ before, now }: Counted) {
  const [first, last] = [before, now].map((rows) => ({ n: total(rows, 'n'), d: total(rows, 'd') }));
  return [first, last] as [Required<Count>, Required<Count>];
}

function partsOfRate(pairs: readonly Pair[], whole: Counted): Parts {
  const [all1, all2] = ratesOf(whole);
  const [before, now] = [rateOf(all1), rateOf(all2)];
  const values = pairs.map(({ value, label, ...counted }) => {
    const [one, two] = ratesOf(counted);
    const counts = { value, label, before: one, now: two };
    if (before === null || now === null) {
      return { ...counts, rate: null, mix: null, part: null, isChance: true };
    }
    // Without cases in one period, the rate is that of the other.
    const r1 = rateOf(one) ?? two.n / two.d;
    const r2 = rateOf(two) ?? r1;
    const [w1, w2] = [one.d / all1.d, two.d / all2.d];
    const rate = ((r2 - r1) * (w1 + w2)) / 2;
    const mix = (w2 - w1) * ((r1 + r2) / 2 - (before + now) / 2);
    // What makes most of the part is what may be chance.
    const { doubt } =
      Math.abs(rate) >= Math.abs(mix)
        ? significanceOfShares({ share: r1, of: one.d }, { share: r2, of: two.d })
        : significanceOfShares({ share: w1, of: all1.d }, { share: w2, of: all2.d });
    const isChance = doubt !== undefined || one.d + two.d < minCases;
    return { ...counts, rate, mix, part: rate + mix, isChance };
  });
  return { before, now, change: before === null || now === null ? null : now - before, values };
}

type Name = Pick<ExplainedValue, 'value' | 'label'>;
const unknown: Name = { value: null, label: 'Unknown' };

const inWords = (value: string): Name => {
  const words = value.replaceAll(/[_-]/g, ' ');
  return { value, label: words.charAt(0).toUpperCase() + words.slice(1) };
};

/** A value and its name, by what the database has for it. */
const nameOf: Readonly<
  Record<Dimension, (text: string, planNames: ReadonlyMap<number, string>) => Name>
> = {
  plan: (id, names) => ({ value: Number(id), label: names.get(Number(id)) ?? `Plan ${id}` }),
  interval: (text) => {
    const { unit, count } = parseInterval(text as IntervalText);
    return {
      value: `${unit}-${count}`,
      label: count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`,
    };
  },
  age: (band) => {
    const { name, label } = ageBands[Number(band)] as (typeof ageBands)[number];
    return { value: name, label };
  },
  price: (band) => {
    const [from, to] = [priceSteps[Number(band)], priceSteps[Number(band) + 1]];
    const label = to === undefined ? `${from} and more` : `${from} to under ${to}`;
    return { value: `${from}-${to ?? ''}`, label };
  },
  source: inWords,
  reason: inWords,
};
