import type { RecordOf } from '../../../records/records.ts';
import type { IntervalUnit, PlanType } from '../../../vocabulary.ts';
import type { Interval } from './fields.ts';
import { ownNumber } from '../../../own-number.ts';
import type { Contract, ContractLine, SellingPlan, SellingPlanGroup } from './nodes.ts';

/** Whether the lines of contracts on a selling plan are shipped; undefined if none was seen. */
export type AreShipped = (sellingPlanId: number) => boolean | undefined;

/** Maps a selling plan to its record; undefined if it bills once, so is not a subscription plan. */
export function mapSellingPlan(
  group: SellingPlanGroup,
  plan: SellingPlan,
  areShipped: AreShipped,
): RecordOf<'plan'> | undefined {
  const { billing, delivery } = plan;
  if (!billing) return undefined;
  const shipped = areShipped(plan.id);
  return {
    type: 'plan',
    id: plan.id,
    name: plan.name?.trim() ? plan.name : fallbackName(plan.id),
    groupName: group.name,
    planType: plan.isForSubscriptions ? planTypeOf(billing, delivery, shipped) : 'other',
    intervalUnit: billing.unit,
    intervalCount: billing.count,
    active: true,
    productIds: [],
    productCount: group.productCount ?? undefined,
    pricing: plan.pricing,
    updatedAt: null,
    preserve: shipped === undefined && plan.isForSubscriptions ? 'membership' : undefined,
  };
}

/**
 * Makes a stand-in plan for a contract, used until its selling plan is known. A contract has only
 * the selling plan's number and name, and may have no selling plan at all.
 * @param line the first one with a selling plan
 */
export function standInPlan(
  { billing, delivery }: Contract,
  line: ContractLine | undefined,
  shipped: boolean | undefined,
): RecordOf<'plan'> {
  const planType = planTypeOf(billing, delivery, shipped);
  const description =
    planType === 'subscription' ? every(billing) : `${every(billing)}, ${planType}`;
  const id = line?.sellingPlanId ?? ownNumber(`No selling plan: ${description}`);
  const name = line ? line.sellingPlanName : description;
  return {
    type: 'plan',
    id,
    name: name?.trim() ? name : fallbackName(id),
    groupName: line ? null : 'No selling plan',
    planType,
    intervalUnit: billing.unit,
    intervalCount: billing.count,
    active: false,
    productIds: [],
    pricing: null,
    updatedAt: null,
    preserve: 'plan',
  };
}

const fallbackName = (id: number) => `Selling plan ${id}`;

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

/** The number of days in a unit. */
const days: Readonly<Record<IntervalUnit, readonly [min: number, max: number]>> = {
  day: [1, 1],
  week: [7, 7],
  month: [28, 31],
  year: [365, 366],
};

/** Whether an interval is always longer than another one: a month is not, compared with 30 days. */
function isLonger(one: Interval, other: Interval): boolean {
  const [months, otherMonths] = [monthsOf(one), monthsOf(other)];
  if (months !== undefined && otherMonths !== undefined) return months > otherMonths;
  return one.count * days[one.unit][0] > other.count * days[other.unit][1];
}

function monthsOf({ unit, count }: Interval): number | undefined {
  if (unit === 'month') return count;
  return unit === 'year' ? 12 * count : undefined;
}
