import { parseDecimal, roundHalfAway } from '../../money.ts';
import type { RecordOf } from '../../records/records.ts';
import type { Transaction } from '../../store/database.ts';
import { listPlanIntervals } from '../../store/records/plans.ts';
import {
  type ComparedSubscription,
  noteValuesSince,
  replacePastInterval,
  updatePastValues,
} from '../../store/records/subscription-writes.ts';
import type { PlanRow } from '../../records/columns.ts';
import type { Amounts, SeenValue } from '../../records/past-values.ts';
import { type JudgedRow, type Stored, isWritten } from '../../store/records/writing.ts';
import type { Histories, SubscriptionEntry } from './status-histories.ts';
import {
  amountsOf,
  atInterval,
  knownOf,
  monthlyOf,
  onPlan,
  ownTimeOf,
  pastOfNew,
  pastWith,
  pastWithOlder,
} from './past-values.ts';
import { otherIntervalsOf, priceOf } from '../rows.ts';

type Group = ReadonlyMap<number, SubscriptionEntry>;

interface Shop {
  readonly id: number;
  readonly currency: string;
  readonly minorDigits: number;
}

function valueOf(record: RecordOf<'subscription'>): Amounts {
  const { lines, intervalUnit, intervalCount } = record;
  const otherIntervals = otherIntervalsOf(lines);
  return amountsOf({ currentPrice: priceOf(lines), otherIntervals, intervalUnit, intervalCount });
}

/** An export of a shop says it in its own words: exactly, and it need not be checked. */
const statedBy = ({ pastValues, valueEvents = [] }: RecordOf<'subscription'>) =>
  pastValues ? [] : valueEvents;

/**
 * Looks for records that bring a past which does not lead to what their lines say. Those whose plan is not stored are
 * looked at once it is.
 * @returns the reasons by id
 */
export async function findWrongValues(
  tx: Transaction,
  shop: Shop,
  records: readonly RecordOf<'subscription'>[],
): Promise<ReadonlyMap<number, string>> {
  const stated = records.flatMap((record) => {
    const last = statedBy(record).at(-1);
    return last ? [{ record, last }] : [];
  });
  if (stated.length === 0) return new Map();
  const planIds = stated.map(({ record }) => record.planId);
  const intervals = await listPlanIntervals(tx, shop.id, planIds);
  const reasons = stated.flatMap(({ record, last }): [number, string][] => {
    const interval = intervals.get(record.planId);
    if (interval === undefined) return [];
    const value = roundHalfAway(monthlyOf(valueOf(record), interval), shop.minorDigits);
    if (value === roundHalfAway(parseDecimal(last.mrr), shop.minorDigits)) return [];
    const reason = `valueEvents must end in what the lines come to a month, ${value.toFixed(shop.minorDigits)}, not in ${last.mrr}`;
    return [[record.id, reason]];
  });
  return new Map(reasons);
}

/**
 * Adds what subscriptions were worth before to those that will be written, and stores what older records say of it.
 * @param now the time of the import
 */
export async function withPastValues(
  tx: Transaction,
  shopId: number,
  compared: readonly ComparedSubscription[],
  { histories, group, now }: { histories: Histories; group: Group; now: number },
): Promise<ComparedSubscription[]> {
  const movedPlans = compared.flatMap(({ before, rows: { subscription } }) =>
    before && before.planId !== subscription.planId ? [before.planId, subscription.planId] : [],
  );
  const intervals = await listPlanIntervals(tx, shopId, movedPlans);
  const older: { id: number; pastValues: readonly SeenValue[] | null }[] = [];
  let since = now;
  const result = compared.map((each) => {
    if (each.verdict === 'waiting' || each.verdict === 'unchanged') return each;
    const entry = group.get(each.id) as SubscriptionEntry;
    const { record, exportedAt } = entry;
    const stated = statedBy(record);
    since = Math.min(since, exportedAt ?? now, stated[0]?.at ?? now);
    const { rows, before, id } = each;
    const { subscription } = rows;
    const exports = histories.exportTimesOf(each, entry);
    const at = Math.min(record.updatedAt ?? exportedAt ?? now, now);
    const seen = { at, ownTime: ownTimeOf(subscription), amounts: amountsOf(subscription), stated };
    if (record.pastValues && (!before || isWritten(each))) return written(each, record.pastValues);
    if (!before) {
      // Without a time of its own it is no change.
      const isDated = record.updatedAt !== null || exports.length > 0;
      return written(each, pastOfNew(isDated ? seen : { ...seen, at: seen.ownTime }, exports));
    }
    const known = knownOf(before, exports);
    const isMoved = before.planId !== subscription.planId;
    if (isWritten(each)) {
      const interval = isMoved ? intervals.get(before.planId) : undefined;
      const left = `${interval} ${before.planId}`;
      const then = interval ? onPlan(known, subscription.planId, left) : known;
      return written(each, pastWith(then, seen));
    }
    // A deletion leaves no trace.
    if ((exportedAt ?? at) <= histories.deletedAtOf(each)) return each;
    const interval = intervals.get(subscription.planId);
    // Only what is billed at the interval of its plan needs the plan.
    if (isMoved && interval === undefined && '' in seen.amounts) return each;
    const amounts = isMoved
      ? atInterval(seen.amounts, `${interval} ${subscription.planId}`)
      : seen.amounts;
    const pastValues = pastWithOlder(known, { ...seen, amounts });
    if (JSON.stringify(pastValues) !== JSON.stringify(known.past)) older.push({ id, pastValues });
    return each;
  });
  await updatePastValues(tx, shopId, older);
  if (since < now) await noteValuesSince(tx, shopId, since);
  return result;
}

/** Gives what subscriptions were worth on plans that they have left the intervals to which those are corrected. */
export async function correctPastIntervals(
  tx: Transaction,
  shopId: number,
  plans: readonly JudgedRow<PlanRow, Stored & Interval>[],
): Promise<void> {
  for (const plan of plans) {
    const { id, before, row } = plan;
    if (!before || !isWritten(plan)) continue;
    const asLeft = ({ intervalUnit, intervalCount }: Interval) =>
      `${intervalUnit} ${intervalCount} ${id}`;
    const [old, now] = [asLeft(before), asLeft(row)];
    if (old !== now) await replacePastInterval(tx, shopId, { old, now });
  }
}

type Interval = Pick<PlanRow, 'intervalUnit' | 'intervalCount'>;

function written(
  compared: ComparedSubscription,
  pastValues: readonly SeenValue[] | null,
): ComparedSubscription {
  const { rows } = compared;
  return { ...compared, rows: { ...rows, subscription: { ...rows.subscription, pastValues } } };
}
