import type { Period } from '../../metrics/bounds.ts';
import { type Movement, isOutflow, movements } from '../../metrics/facts.ts';
import { type MovedRow, listMoved, monthlyChangeOf } from '../../metrics/moved.ts';
import type { Movements } from '../../metrics/movements.ts';
import { minCases } from '../../metrics/significance.ts';
import { type Ratio, add, roundHalfAway, subtract, zero } from '../../money.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import type { Sql } from '../../store/database.ts';

/** The movement that explains most of a change of MRR, and on which plan and interval most of it was. */
export interface Driver {
  readonly movement: Movement;
  readonly planName?: string | undefined;
  readonly interval?: Interval | undefined;
}

/** Of more subscriptions that moved in a period, plans are not read: the overview has to stay fast. */
const maxMoved = 1000;

/** A smaller change of MRR, as a share of it, is about the same. */
export const leastChange = 0.01;

/** How much of a change of MRR the difference of a movement must explain, and of that a plan or an interval. */
const most = 0.5;

/** Whether a change of MRR is worth explaining. */
export const isChanged = ({ opening, closing }: Movements) =>
  Math.abs(closing - opening) > leastChange * opening;

/**
 * The movement without whose difference to the period before at least half of the change of MRR would be gone.
 * @returns undefined if there is none, as where a shop grows as it did before
 */
export function driverOf(now: Movements, before: Movements): Movement | undefined {
  if (!isChanged(now)) return undefined;
  const growth = now.closing - now.opening;
  const [first] = movements
    .map((name) => {
      const by = (now[name] - before[name]) * (isOutflow(name) ? -1 : 1);
      return { name, part: by / growth };
    })
    .toSorted((one, other) => other.part - one.part);
  return first && first.part >= most ? first.name : undefined;
}

/** Reads on which plan and interval most of a movement's difference was, from the subscriptions that moved. */
export async function findWhere(
  sql: Sql,
  shopId: number,
  movement: Movement,
  periods: readonly [before: Period, now: Period],
): Promise<Pick<Driver, 'planName' | 'interval'>> {
  const page = { names: [movement], after: undefined, limit: maxMoved + 1 };
  const [before, now] = await Promise.all([
    listMoved(sql, shopId, periods[0], page),
    listMoved(sql, shopId, periods[1], page),
  ]);
  const isKnown = Math.max(before.length, now.length) <= maxMoved;
  return isKnown ? whereOf(before, now) : {};
}

/** @returns nothing if there are too few, or no value has most of it */
function whereOf(
  before: readonly MovedRow[],
  now: readonly MovedRow[],
): Pick<Driver, 'planName' | 'interval'> {
  const moved = [
    ...before.map((row) => ({ row, value: subtract(zero, monthlyChangeOf(row)) })),
    ...now.map((row) => ({ row, value: monthlyChangeOf(row) })),
  ];
  const ofPlan = largest(moved, ({ planId }) => planId);
  const ofInterval = largest(ofPlan ?? moved, ({ unit, count }) => `${unit} ${count}`);
  const [plan, interval] = [ofPlan?.[0]?.row, ofInterval?.[0]?.row];
  return {
    planName: plan?.planName,
    interval: interval && { unit: interval.unit, count: interval.count },
  };
}

interface Moved {
  readonly row: MovedRow;
  readonly value: Ratio;
}

const sumOf = (moved: readonly Moved[]) =>
  roundHalfAway(
    moved.reduce((sum, { value }) => add(sum, value), zero),
    4,
  );

/** The rows of the value that has most of the sum, if there are several values. */
function largest(
  moved: readonly Moved[],
  valueOf: (row: MovedRow) => number | string,
): readonly Moved[] | undefined {
  if (moved.length < minCases) return undefined;
  const groups = [...Map.groupBy(moved, ({ row }) => valueOf(row)).values()];
  const whole = sumOf(moved);
  const found = groups.find((group) => sumOf(group) / whole > most);
  return groups.length > 1 ? found : undefined;
}
