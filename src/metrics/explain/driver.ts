import type { Sql } from '../../store/database.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import { type Ratio, add, roundHalfAway, shopDigitsOf, subtract, zero } from '../../money.ts';
import { isoTime } from '../../iso-time.ts';
import type { Period } from '../bounds.ts';
import { type Movement, isOutflow, movements } from '../facts.ts';
import { type MovedRow, listMoved, monthlyChangeOf } from '../moved.ts';
import type { Movements } from '../movements.ts';
import { minCases } from '../significance.ts';

/** The movement that explains most of a change of MRR, and on which plan and interval most of it was. */
export interface Driver {
  readonly movement: Movement;
  /** Its value in the period before. */
  readonly from: number;
  readonly planName?: string | undefined;
  readonly interval?: Interval | undefined;
}

/** Of more changes in both periods together, plans are not read: the overview has to stay fast. */
const maxChanges = 1000;

/** How much of a change of MRR the difference of a movement must explain, and of that a plan or an interval. */
const most = 0.5;

/** A smaller change of MRR, as a share of it, is about the same. */
export const leastChange = 0.01;

/** Whether a change of MRR is worth explaining. */
export const isChanged = ({ opening, closing }: Pick<Movements, 'opening' | 'closing'>) =>
  Math.abs(closing - opening) > leastChange * opening;

/**
 * The movement without whose difference to the period before at least half of the change of MRR would be gone.
 * @returns undefined if there is none, as where a shop grows as it did before, or less
 */
export function driverOf(
  now: Movements,
  before: Movements,
): Pick<Driver, 'movement' | 'from'> | undefined {
  if (!isChanged(now)) return undefined;
  const growth = now.closing - now.opening;
  const growthBefore = before.closing - before.opening;
  if ((growth - growthBefore) * growth <= 0) return undefined;
  const [first] = movements
    .map((name) => {
      const by = (now[name] - before[name]) * (isOutflow(name) ? -1 : 1);
      return { name, part: by / growth };
    })
    .toSorted((one, other) => other.part - one.part);
  return first && first.part >= most
    ? { movement: first.name, from: before[first.name] }
    : undefined;
}

/**
 * Reads on which plan and interval most of a movement's difference was, from the subscriptions that moved.
 * @returns nothing if they are too few or too many, or no value has most of it
 */
export async function findWhere(
  sql: Sql,
  { id, currency }: { readonly id: number; readonly currency: string },
  movement: Movement,
  periods: readonly [before: Period, now: Period],
): Promise<Pick<Driver, 'planName' | 'interval'>> {
  const changed = ({ from, until }: Period) => sql`(
    select from subscriber_changes
    where shop_id = ${id} and at >= ${isoTime(from)} and at < ${isoTime(until)}
    order by at limit ${maxChanges + 1}
  )`;
  const [counted] = await sql<{ changes: number }[]>`
    select count(*)::integer as changes
    from (${changed(periods[0])} union all ${changed(periods[1])}) c`;
  if ((counted?.changes ?? 0) > maxChanges) return {};
  const page = { names: [movement], after: undefined, limit: maxChanges + 1 };
  const [before, now] = await Promise.all([
    listMoved(sql, id, periods[0], page),
    listMoved(sql, id, periods[1], page),
  ]);
  if (Math.max(before.length, now.length) > maxChanges) return {};
  const moved: Moved[] = [
    ...before.map((row) => ({ ...row, value: subtract(zero, monthlyChangeOf(row)) })),
    ...now.map((row) => ({ ...row, value: monthlyChangeOf(row) })),
  ];
  const sumOf = (some: readonly Moved[]) =>
    roundHalfAway(
      some.reduce((sum, { value }) => add(sum, value), zero),
      shopDigitsOf(currency),
    );
  /** The rows of the value that has most of the sum, if there are several values. */
  const largest = (some: readonly Moved[], valueOf: (row: Moved) => number | string) => {
    const groups = [...Map.groupBy(some, valueOf).values()];
    if (some.length < minCases || groups.length === 1) return undefined;
    return groups.find((group) => sumOf(group) / sumOf(some) > most);
  };
  const ofPlan = largest(moved, ({ planId }) => planId);
  const [ofInterval] = largest(ofPlan ?? moved, ({ unit, count }) => `${unit} ${count}`) ?? [];
  return {
    planName: ofPlan?.[0]?.planName,
    interval: ofInterval && { unit: ofInterval.unit, count: ofInterval.count },
  };
}

interface Moved extends MovedRow {
  readonly value: Ratio;
}
