import { roundHalfAway, shopDigitsOf } from '../money.ts';
import { type ActiveValue, type IntervalText, monthlyValue, parseInterval } from './facts.ts';

/** The customers whose first subscription began in one UTC month, and what became of them by month since. */
export interface Cohort {
  /** For example 2026-03. */
  readonly month: string;
  readonly customers: number;
  /** Those with an active or paused subscription at the end of each month, from the cohort's own; the last ends now. */
  readonly retained: readonly number[];
  /** What their active subscriptions bring in per month then, at today's prices and intervals; in the shop's currency. */
  readonly mrr: readonly number[];
}

/** What holds for a cohort at the end of a month: its customers, those retained, or its price sum of one interval. */
export interface CohortRow {
  /** For example 2026-03. */
  readonly cohort: string;
  readonly month: string;
  readonly fact: 'customers' | 'retained' | IntervalText;
  readonly count: number;
  /** A decimal. */
  readonly amount: string;
}

/** A UTC month and its end, or now if that is earlier. ISO 8601 texts. */
export interface Month {
  readonly month: string;
  readonly end: string;
}

export interface CohortOptions {
  /** How many months, including the current one. */
  readonly months: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The last months, oldest first. What happens exactly now belongs to what comes next. */
export function listMonths({ months, now }: CohortOptions): Month[] {
  const date = new Date(now);
  const startOf = (index: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + index);
  return Array.from({ length: months }, (_, index) => {
    const at = index - months + 1;
    return {
      month: new Date(startOf(at)).toISOString().slice(0, 7),
      end: new Date(Math.min(startOf(at + 1), now)).toISOString(),
    };
  });
}

/** The cohorts that have customers, oldest first; each value is rounded once. @param currency ISO 4217 */
export function toCohorts(
  rows: readonly CohortRow[],
  months: readonly Month[],
  currency: string,
): Cohort[] {
  const counts = new Map<string, number>();
  const values = new Map<string, ActiveValue[]>();
  for (const { cohort, month, fact, count, amount } of rows) {
    if (fact === 'customers' || fact === 'retained') {
      counts.set(`${cohort} ${month} ${fact}`, count);
    } else {
      const key = `${cohort} ${month}`;
      const value = { ...parseInterval(fact), sum: amount };
      const known = values.get(key);
      if (known === undefined) values.set(key, [value]);
      else known.push(value);
    }
  }
  const digits = shopDigitsOf(currency);
  return months.flatMap(({ month: cohort }, index) => {
    const customers = counts.get(`${cohort} ${cohort} customers`) ?? 0;
    if (customers === 0) return [];
    const since = months.slice(index).map(({ month }) => month);
    return {
      month: cohort,
      customers,
      retained: since.map((month) => counts.get(`${cohort} ${month} retained`) ?? 0),
      mrr: since.map((month) =>
        roundHalfAway(monthlyValue(values.get(`${cohort} ${month}`) ?? []), digits),
      ),
    };
  });
}
