import { type Ratio, roundHalfAway, shopDigitsOf, subtract } from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { restOfTime, wholeDaysOf } from './bounds.ts';
import {
  type ActiveFact,
  type ActiveValue,
  type Movement,
  departures,
  movements,
  parseInterval,
  partsOf,
} from './facts.ts';
import { monthlyValue, zero } from './figures.ts';
import { intervalsOf } from './pieces.ts';

/** Exact monthly values at the ends of an interval, and of the movements in between; none is below 0. */
export type MovementValues = Readonly<Record<'opening' | Movement | 'closing', Ratio>>;

/** The same, rounded, in the shop's currency. */
export type Movements = { readonly currency: string } & Readonly<
  Record<'opening' | Movement | 'closing', number>
>;

interface Sum {
  /** What is active at the end of the interval, or how it changed in between. */
  readonly part: 'closing' | 'between';
  readonly fact: ActiveFact;
  /** A decimal. */
  readonly amount: string;
}

/**
 * The monthly value at both ends of an interval, at today's prices and intervals, and what changed it: opening +
 * arrivals - departures = closing. An end leaves out what happens exactly then. The cost does not grow with the
 * shop, but with the number of days and with the changes on the first and the last one.
 * @param from, to epoch milliseconds; includes `from`, excludes `to`
 */
export async function summariseMovements(
  sql: Sql | Transaction,
  shopId: number,
  from: number,
  to: number,
): Promise<MovementValues> {
  const { days, ends } = wholeDaysOf(from, to);
  const after = restOfTime(to);
  const sums = await sql<Sum[]>`
    select part, fact, sum(amount) as amount
    from (
      select 'closing' as part, fact, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'all' and fact like 'active %'
      union all
      select 'closing', fact, -amount from metric_ledger
      where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
        and fact like 'active %'
      union all
      (
        select 'closing', fact, -amount from subscriber_facts
        where shop_id = ${shopId} and at >= ${after.end[0]} and at < ${after.end[1]}
          and fact like 'active %'
        order by at offset 0
      )
      union all
      select 'between', fact, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'shift' and bucket >= ${days[0]} and bucket < ${days[1]}
        and fact like 'active %'
      union all
      select 'between', f.fact, f.amount from (${intervalsOf(sql, ends)}) e
      cross join lateral (
        select fact, amount from subscriber_facts
        where shop_id = ${shopId} and at >= e.since and at < e.until and fact like 'active %'
        order by at offset 0
      ) f
    ) sums
    group by part, fact`;
  const between = sums.filter(({ part }) => part === 'between');
  const closing = monthlyValueOf(sums.filter(({ part }) => part === 'closing'));
  const moved = movements.map((movement) => {
    const value = monthlyValueOf(between.filter(({ fact }) => partsOf(fact).movement === movement));
    return [movement, isDeparture(movement) ? subtract(zero, value) : value] as const;
  });
  return {
    opening: subtract(closing, monthlyValueOf(between)),
    ...(Object.fromEntries(moved) as Record<Movement, Ratio>),
    closing,
  };
}

function monthlyValueOf(sums: readonly Sum[]): Ratio {
  return monthlyValue(
    sums.map(({ fact, amount }): ActiveValue => ({
      ...parseInterval(partsOf(fact).interval),
      sum: amount,
    })),
  );
}

const isDeparture = (movement: Movement) => departures.some((each) => each === movement);

/** Rounds each value once. @param currency the shop's, ISO 4217 */
export function toMovements(values: MovementValues, currency: string): Movements {
  const money = (value: Ratio) => roundHalfAway(value, shopDigitsOf(currency));
  const names = ['opening', ...movements, 'closing'] as const;
  return {
    currency,
    ...(Object.fromEntries(names.map((name) => [name, money(values[name])])) as Record<
      (typeof names)[number],
      number
    >),
  };
}
