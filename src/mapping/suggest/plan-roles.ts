import { createReader } from '../values.ts';
import { type Answers, byColumn, chosenColumn, chosenInterval } from './answers.ts';
import { type Column, bestOf } from './table.ts';
import { isSubscriptionIds } from './id-roles.ts';
import { intervalOf, yesOrNo } from './meanings.ts';
import {
  type Interval,
  doubtOfPeriod,
  everyOf,
  isFormer,
  periodOfName,
  periodUnits,
  wordsOf,
} from './names.ts';
import { type PriceRole, chosenShare } from './money-roles.ts';

/** The columns that name the plan: its id, if there is one, and its name. */
export interface PlanRole {
  readonly name: Column;
  readonly id: Column;
}

const maxPlans = 300;
/** Names of more plans are not looked into. */
const maxNamedPlans = 40;

/** The columns that may be the plan. */
export function planCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(
    (column) => column.filled > 0 && column.counts.size <= maxPlans && !column.is('contact'),
  );
}

export function findPlan(
  columns: readonly Column[],
  rows: number,
  answers: Answers,
): PlanRole | undefined {
  const chosen = chosenColumn(answers, 'plan', planCandidates(columns));
  if (chosen) return { name: chosen, id: chosen };
  if (chosen === null) return undefined;
  const few = columns.filter(
    ({ counts, filled, mayBeEmpty }) =>
      filled * 10 >= rows * (mayBeEmpty ? 5 : 9) &&
      counts.size <= maxPlans &&
      (counts.size * 2 <= rows || rows < 20),
  );
  const name = bestOf(few, (column) => planScore(column, false));
  const ids = few.filter((column) => column.is('id') && /\bid\b|code|sku/.test(column.words));
  const id = bestOf(ids, (column) => planScore(column, true));
  const found = name?.found ?? id?.found;
  if (found) return { name: found, id: id?.found ?? found };
  const contract = bestOf(few, (column) =>
    isOfIntervals(column) && column.is('commitment') && !/period/.test(column.words) ? 20 : 0,
  );
  return contract && { name: contract.found, id: contract.found };
}

const isMainPlan = /\b(?:plan|tier|tarif|abo|subscription type|membership|package|paket)\b/;

function isNoName(text: string): boolean {
  return yesOrNo(text) !== undefined || /^[\d.,]+$/.test(text);
}

/** @param isId whether it is to be the plan's id rather than its name */
function planScore(column: Column, isId: boolean): number {
  if (!column.is('plan') || column.is('contact') || column.is('customer')) return 0;
  if (isSubscriptionIds(column) || isFormer.test(column.words)) return 0;
  if (column.is('notPlan') !== isId) return 0;
  const texts = column.values;
  // "Plan" alone may have numbers.
  const isOnly = !column.words.includes(' ');
  const isNone = (text: string) => (isOnly ? yesOrNo(text) !== undefined : isNoName(text));
  if (!isId && texts.every(isNone)) return 0;
  // The name of a plan says more than its code.
  return (isMainPlan.test(column.words) ? 80 : 60) - (!isId && column.is('id') ? 5 : 0);
}

/** How often subscriptions are charged. */
export interface IntervalRole {
  readonly kind: 'constant' | 'words' | 'counted';
  /** That of all rows, or what a number of them is multiplied with. */
  readonly interval?: Interval;
  /** What tells intervals apart: words, or a number and perhaps its unit. */
  readonly columns: readonly Column[];
  /** What the words mean; undefined if the import understands them itself. */
  readonly meanings?: ReadonlyMap<string, Interval> | undefined;
  readonly doubt?: string | undefined;
  /** Whether some words name no interval, so that their rows are refused. */
  readonly isPartial?: boolean;
}

const month: Interval = { unit: 'month', count: 1 };

export function findInterval(
  columns: readonly Column[],
  price: PriceRole | undefined,
  plan: PlanRole | undefined,
  answers: Answers,
): IntervalRole {
  const picked = chosenColumn(answers, 'interval', intervalCandidates(columns));
  const chosen = chosenInterval(answers);
  if (chosen) return { kind: 'constant', columns: [], interval: chosen };
  const isWords = picked && isOfIntervals(picked, chosenShare);
  const guessed = picked === undefined ? findIntervalWords(columns) : undefined;
  const words = isWords ? picked : guessed;
  const isByColumn = answers.get('interval') === byColumn || Boolean(picked);
  const period = isByColumn ? undefined : price?.period;
  if (price && period) {
    const others = words && !words.is('commitment') && isDifferent(words, period);
    const doubt = `"${price.column.name}" is read as an amount ${everyOf(period)}, whatever "${words?.name}" says`;
    return { kind: 'constant', columns: [], interval: period, ...(others && { doubt }) };
  }
  if (words && (isByColumn || !words.is('commitment'))) {
    const known = words.values.filter(intervalOf);
    const isPair = known.every((text) => intervalOf(text)?.count === 1);
    const isPartial = known.length < words.values.length;
    const doubt = isPartial
      ? `rows whose "${words.name}" is no interval that is known are refused`
      : known.map(doubtOfPeriod).find((each) => each !== undefined);
    const count = isPair
      ? bestOf(columns, (column) => countScore(column, words))?.found
      : undefined;
    if (count && isUnderstood(words))
      return { kind: 'counted', columns: [count, words], doubt, isPartial };
    return { kind: 'words', columns: [words], meanings: meaningsOf(words), doubt, isPartial };
  }
  const numbers = picked === undefined ? bestOf(columns, numberScore)?.found : picked;
  if (numbers) {
    const answer = periodUnits.find((each) => each === answers.get('unit'));
    const unit = answer ?? periodOfName(numbers.words)?.unit;
    const doubt = `"${numbers.name}" is read as a number of months`;
    const interval = { unit: unit ?? 'month', count: 1 };
    return { kind: 'counted', columns: [numbers], interval, ...(!unit && { doubt }) };
  }
  const named = plan && intervalsInNames(plan.name);
  if (named) {
    const doubt = `how often the price is charged is read from the names in "${plan.name.name}"`;
    return { kind: 'words', columns: [plan.name], meanings: named, doubt };
  }
  const term = words && `; if it is for a whole term, use the column "${words.name}"`;
  const doubt = `no column says how often the price is charged; each month is a guess${term ?? ''}`;
  return { kind: 'constant', columns: [], interval: month, doubt };
}

/** The columns that may say how often a price is charged. */
export function intervalCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(
    (column) =>
      column.filled > 0 && (column.values.every(isCount) || isOfIntervals(column, chosenShare)),
  );
}

/** The column whose words say how often a price is charged, or how long a contract is. */
export function findIntervalWords(columns: readonly Column[]): Column | undefined {
  return bestOf(columns, (column) => {
    const isNamed = column.is('interval') && !column.is('commitment') && !column.is('plan');
    if (!isOfIntervals(column)) return isNamed && isOfIntervals(column, chosenShare) ? 60 : 0;
    return (column.is('interval') ? 80 : 50) - (column.is('commitment') ? 30 : 0);
  })?.found;
}

/** The intervals in names such as "Pro (Annual)" and "Basic - monthly", if all names have one. */
function intervalsInNames({ values }: Column): ReadonlyMap<string, Interval> | undefined {
  const found = new Map<string, Interval>();
  if (values.length > maxNamedPlans) return undefined;
  for (const text of values) {
    const intervals = wordsOf(text)
      .split(' ')
      .flatMap((word) => intervalOf(word) ?? []);
    const [interval, another] = intervals;
    if (!interval || another) return undefined;
    found.set(text, interval);
  }
  return found.size > 0 ? found : undefined;
}

/**
 * Whether values are words such as "monthly", "One year" or "mensual".
 * @param minShare of the rows that have one
 */
function isOfIntervals({ values, counts, filled }: Column, minShare = 1): boolean {
  if (values.length > 40) return false;
  const known = values.filter(intervalOf);
  const rows = known.reduce((sum, text) => sum + (counts.get(text) ?? 0), 0);
  return known.some((text) => /\p{L}/u.test(text)) && rows >= filled * minShare;
}

function isDifferent({ values }: Column, { unit, count }: Interval): boolean {
  return values.some((text) => {
    const interval = intervalOf(text);
    return interval?.unit !== unit || interval.count !== count;
  });
}

function isUnderstood({ values }: Column): boolean {
  const read = createReader({ kind: 'intervalUnit' }, {});
  return values.filter(intervalOf).every((text) => 'value' in read(text, 0));
}

function meaningsOf(column: Column): ReadonlyMap<string, Interval> | undefined {
  if (isUnderstood(column)) return undefined;
  return new Map(
    column.values.flatMap((text) => {
      const interval = intervalOf(text);
      return interval ? [[text, interval]] : [];
    }),
  );
}

const isCount = (text: string) => /^[1-9]\d{0,2}$/.test(text);

/** Numbers of cycles that are over, or still to come. */
const isOther = /total|remaining|renewal|left|trial|order/;

/** A column such as "interval_count" beside "interval_unit". */
function countScore(column: Column, unit: Column): number {
  if (column === unit || column.filled === 0 || isOther.test(column.words)) return 0;
  if (!column.is('interval') || !column.values.every(isCount)) return 0;
  if (unit.words === `${column.words} unit`) return 80;
  // "invoice_period" and "invoice_interval".
  if (unit.words.replace(/ \w+$/, ' period') === column.words) return 70;
  return /count|number|frequency|every|anzahl|interval|length/.test(column.words) ? 60 : 0;
}

const isNumberOf =
  /(?:days|weeks|months|years|tage|wochen|monate|jahre|jours|mois|dias|meses|giorni|mesi)$/;

/** A column such as "plan_days", or "billing_cycle" with 1 and 12. */
function numberScore(column: Column): number {
  const texts = column.values;
  if (
    !column.is('interval') ||
    texts.length === 0 ||
    isOther.test(column.words) ||
    !texts.every(isCount)
  )
    return 0;
  // "payment_plan_days" is a number of days, "monthly_plan_price" is not one of months.
  if (isNumberOf.test(column.words)) return column.is('tenure') && !column.is('plan') ? 0 : 60;
  if (column.is('price') || column.is('tenure') || column.is('customer')) return 0;
  const isOfMonths = texts.every((text) => ['1', '2', '3', '6', '12', '24', '36'].includes(text));
  const isBilling = /billing|cycle|interval|frequency|abrechnung|zahl|facturac|fattura|periodic/;
  return isOfMonths && isBilling.test(column.words) ? 40 : 0;
}
