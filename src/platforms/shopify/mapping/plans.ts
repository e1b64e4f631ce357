import type { InputOf } from '../../../ingest/record.ts';
import type { IntervalUnit, PlanType } from '../../../vocabulary.ts';
import type { Interval } from './fields.ts';
import { ownNumber } from '../../../own-number.ts';
import type { Contract, ContractLine, SellingPlan, SellingPlanGroup } from './nodes.ts';

/** Whether the lines of contracts on a selling plan are shipped; undefined where none was seen. */
export type AreShipped = (sellingPlanId: number) => boolean | undefined;

/** The record of a selling plan; undefined for one that bills once, which is no subscription plan. */
export function mapSellingPlan(
  group: SellingPlanGroup,
  plan: SellingPlan,
  areShipped: AreShipped,
): InputOf<'plan'> | undefined {
  const { billing, delivery } = plan;
  if (!billing) return undefined;
  const shipped = areShipped(plan.id);
  return {
    type: 'plan',
    id: plan.id,
    name: plan.name?.trim() ? plan.name : unnamed(plan.id),
    groupName: group.name,
    planType: plan.isForSubscriptions ? planTypeOf(billing, delivery, shipped) : 'other',
    intervalUnit: billing.unit,
    intervalCount: billing.count,
    productCount: group.productCount,
    pricing: plan.pricing,
    ...(shipped === undefined && plan.isForSubscriptions && { keeps: 'membership' }),
  };
}

/**
 * What stands for the plan of a contract until its selling plan is known: of the selling plan only
 * its number and name are, and a contract may have none at all.
 * @param line the first one that has a selling plan
 */
export function standInPlan(
  { billing, delivery }: Contract,
  line: ContractLine | undefined,
  shipped: boolean | undefined,
): InputOf<'plan'> & { readonly id: number } {
  const planType = planTypeOf(billing, delivery, shipped);
  const own = planType === 'subscription' ? every(billing) : `${every(billing)}, ${planType}`;
  const id = line?.sellingPlanId ?? ownNumber(`No selling plan: ${own}`);
  const name = line ? line.sellingPlanName : own;
  return {
    type: 'plan',
    id,
    name: name?.trim() ? name : unnamed(id),
    groupName: line ? null : 'No selling plan',
    planType,
    intervalUnit: billing.unit,
    intervalCount: billing.count,
    active: false,
    keeps: 'plan',
  };
}

const unnamed = (id: number) => `Selling plan ${id}`;

function every({ unit, count }: Interval): string {
  return count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`;
}

function planTypeOf(
  billing: Interval,
  delivery: Interval | null,
  shipped: boolean | undefined,
): PlanType {
  if (shipped === false) return 'membership';
  return delivery && isLonger(billing, delivery) ? 'prepaid' : 'subscription';
}

/** The fewest and the most days that a unit has. */
const days: Readonly<Record<IntervalUnit, readonly [least: number, most: number]>> = {
  day: [1, 1],
  week: [7, 7],
  month: [28, 31],
  year: [365, 366],
};

/** Whether one interval is longer than another in every month of the year: 30 days and a month are not. */
function isLonger(one: Interval, other: Interval): boolean {
  const [months, otherMonths] = [monthsOf(one), monthsOf(other)];
  if (months !== undefined && otherMonths !== undefined) return months > otherMonths;
  return one.count * days[one.unit][0] > other.count * days[other.unit][1];
}

function monthsOf({ unit, count }: Interval): number | undefined {
  if (unit === 'month') return count;
  return unit === 'year' ? 12 * count : undefined;
}
