import { type Period, isoDay, day, restOfTime, wholeDaysOf } from './bounds.ts';
import { isoTime } from '../iso-time.ts';
import { monthlyFactor, type IntervalText, parseInterval } from '../mrr.ts';
import {
  type Ratio,
  add,
  multiply,
  roundHalfAway,
  shopDigitsOf,
  subtract,
  unitsPerOne,
  zero,
} from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type ActiveFact, type Movement, isOutflow, movements, partsOf } from './facts.ts';
import { inUnits, intervalsOf } from './ledger.ts';

interface Line {
  readonly label: string;
  readonly definition: string;
}

/** The lines of what changed the MRR, for owners: the value at the start, what came and left, and the value at the end. */
export const movementLines: Readonly<Record<'opening' | Movement | 'closing', Line>> = {
  opening: {
    label: 'At the start',
    definition:
      'Monthly recurring revenue when the period began, at the prices and intervals of then.',
  },
  new: { label: 'New', definition: 'First subscriptions of customers, once their trial ended.' },
  added: { label: 'Added', definition: 'Further subscriptions of customers who had one before.' },
  resumed: { label: 'Resumed', definition: 'Subscriptions that were paused and became active.' },
  reactivated: {
    label: 'Reactivated',
    definition: 'Subscriptions that had been cancelled, had expired or had failed, and came back.',
  },
  expansion: {
    label: 'Expansion',
    definition:
      'Active subscriptions that are worth more than before: a higher price or quantity, a discount that ended, another interval. What changes for a customer at one time counts together.',
  },
  contraction: {
    label: 'Contraction',
    definition: 'Active subscriptions that are worth less than before, in the same way.',
  },
  paused: { label: 'Paused', definition: 'Active subscriptions that were paused.' },
  cancelled: {
    label: 'Cancelled while active',
    definition:
      'Active subscriptions that were cancelled. Those that were paused or in a trial brought no MRR, and count on the overview only.',
  },
  expired: { label: 'Expired', definition: 'Active subscriptions that reached their planned end.' },
  failed: {
    label: 'Failed',
    definition: 'Active subscriptions that ended because they were not paid.',
  },
  closing: {
    label: 'At the end',
    definition:
      'Monthly recurring revenue when the period ended: the start, plus what came, less what left.',
  },
};

type LineName = keyof typeof movementLines;
export const lineNames = ['opening', ...movements, 'closing'] as const;

/** Exact monthly values at the ends of a period, and of the movements in between; none is below 0. */
export type MovementValues = Readonly<Record<LineName, Ratio>>;

/** The same, rounded, in the shop's currency. */
export type Movements = { readonly currency: string } & Readonly<Record<LineName, number>>;

/** What changed the monthly value on a UTC day, of which an interval may have a part only. */
export interface MovementDay {
  /** For example 2026-11-20. */
  readonly day: string;
  readonly moved: readonly MovedValue[];
  /** What is active at its end, or at the end of the interval. */
  readonly closing: ReadonlyMap<IntervalText, bigint>;
}

interface MovedValue {
  readonly interval: IntervalText;
  readonly movement: Movement;
  /** In units of the last decimal place of prices; below 0 for departures. */
  readonly amount: bigint;
}

/** Sums of prices by billing interval, in units of the last decimal place of prices. */
type IntervalSums = Map<IntervalText, bigint>;

/**
 * What changed the monthly value on each UTC day of an interval, and what it came to, at the prices and
 * intervals of then. An end leaves out what happens exactly then. The cost does not grow with the shop, but with the number
 * of days and with the changes on the first and the last one.
 * @param options.isWhole if only their sum is wanted, which is read faster: all is on the first day then
 */
export async function listMovementDays(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  { isWhole = false } = {},
): Promise<MovementDay[]> {
  const { days, ends } = wholeDaysOf(from, until);
  const after = restOfTime(until);
  const first = Math.floor(from / day) * day;
  const active = sql`
    select bucket as day, fact, amount from metric_ledger
    where shop_id = ${shopId} and grain = 'shift' and bucket >= ${days[0]} and bucket < ${days[1]}
      and fact like 'active %'`;
  const firstDay = sql`${isoTime(first)}::timestamptz`;
  const dayOf = isWhole ? firstDay : sql`metric_day(c.at)`;
  const summed = isWhole
    ? sql`union all select ${firstDay}, fact, amount from (${active}) whole`
    : sql``;
  // The ledger's sums of a whole day are final: to sum them again would take twice as long as all else.
  const final = isWhole
    ? sql``
    : sql`
      union all
      select day, json_object_agg(fact, ${inUnits(sql, 'amount')}) from (${active}) whole group by day`;
  // Of the state at the end, no day. A row of sums for each day is received faster than a row for each sum.
  const rows = await sql<{ day: number | null; sums: Record<ActiveFact, string> }[]>`
    select (date_part('epoch', day) * 1000)::bigint as day, sums
    from (
      select day, json_object_agg(fact, amount) as sums
      from (
        select day, fact, ${inUnits(sql, 'sum(amount)')} as amount
        from (
          select null::timestamptz as day, fact, amount from metric_ledger
          where shop_id = ${shopId} and grain = 'all' and fact like 'active %'
          union all
          select null, fact, -amount from metric_ledger
          where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
            and fact like 'active %'
          union all
          (
            select null, a.fact, -a.amount from (
              select active from subscriber_changes
              where shop_id = ${shopId} and at >= ${after.end[0]} and at < ${after.end[1]}
              order by at offset 0
            ) c
            cross join lateral unnest(c.active) a
          )
          union all
          select ${dayOf}, a.fact, a.amount from (${intervalsOf(sql, ends)}) e
          cross join lateral (
            select at, active from subscriber_changes
            where shop_id = ${shopId} and at >= e.since and at < e.until
            order by at offset 0
          ) c
          cross join lateral unnest(c.active) a
          ${summed}
        ) moved
        group by 1, 2
      ) summed
      group by day
      ${final}
    ) found`;
  const parts = new Map<string, ReturnType<typeof partsOf>>();
  const movedOf = ([fact, amount]: [string, string]) => {
    const known = parts.get(fact) ?? partsOf(fact as ActiveFact);
    parts.set(fact, known);
    return { ...known, amount: BigInt(amount) };
  };
  const byDay = Map.groupBy(rows, (row) => row.day);
  const movedOn = (at: number | null) =>
    (byDay.get(at) ?? []).flatMap(({ sums }) => Object.entries(sums).map(movedOf));
  const closing: IntervalSums = new Map();
  for (const { interval, amount } of movedOn(null)) addTo(closing, interval, amount);
  const found: MovementDay[] = [];
  // Of an interval without length, the day that it is on.
  for (let at = Math.max(Math.floor((until - 1) / day) * day, first); at >= first; at -= day) {
    const moved = movedOn(at);
    found.push({ day: isoDay(at), moved, closing: new Map(closing) });
    for (const { interval, amount } of moved) addTo(closing, interval, -amount);
  }
  return found.toReversed();
}

const addTo = (sums: IntervalSums, interval: IntervalText, amount: bigint) =>
  sums.set(interval, (sums.get(interval) ?? 0n) + amount);

/** The movements of consecutive days, of which there is at least one: opening + arrivals - departures = closing. */
export function movementsOf(days: readonly MovementDay[]): MovementValues {
  const { closing } = days.at(-1) as MovementDay;
  const opening = new Map(closing);
  const byMovement = new Map(movements.map((name) => [name, new Map() as IntervalSums]));
  // A year of a large shop has 24,000 of these.
  for (const { moved } of days) {
    for (const { movement, interval, amount } of moved) {
      addTo(byMovement.get(movement) as IntervalSums, interval, amount);
    }
  }
  const values = [...byMovement].map(([movement, sums]) => {
    for (const [interval, amount] of sums) addTo(opening, interval, -amount);
    const value = monthlyValueOf(sums);
    return [movement, isOutflow(movement) ? subtract(zero, value) : value] as const;
  });
  return {
    opening: monthlyValueOf(opening),
    ...(Object.fromEntries(values) as Record<Movement, Ratio>),
    closing: monthlyValueOf(closing),
  };
}

/** The movements of a whole interval. */
export async function summariseMovements(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
): Promise<MovementValues> {
  return movementsOf(await listMovementDays(sql, shopId, period, { isWhole: true }));
}

function monthlyValueOf(sums: MovementDay['closing']): Ratio {
  return [...sums].reduce((total, [interval, amount]) => {
    const { unit, count } = parseInterval(interval);
    const value = { numerator: amount, denominator: unitsPerOne };
    return add(total, multiply(value, monthlyFactor(unit, count)));
  }, zero);
}

/** Rounds each value once. @param currency the shop's, ISO 4217 */
export function toMovements(values: MovementValues, currency: string): Movements {
  const money = (value: Ratio) => roundHalfAway(value, shopDigitsOf(currency));
  const rounded = lineNames.map((name) => [name, money(values[name])]);
  return { currency, ...(Object.fromEntries(rounded) as Record<LineName, number>) };
}
