import { columnsOf } from '../../records/columns.ts';
import { type RecordOf, records } from '../../records/records.ts';
import type { IntervalUnit } from '../../vocabulary.ts';
import { type Transaction, arrayText } from '../database.ts';
import { each, lookup } from '../lookup.ts';

/** A line of a stored subscription, with the plan of that. */
export type StoredLine = Omit<RecordOf<'subscription'>['lines'][number], 'preserve'> & {
  readonly subscriptionId: number;
  readonly position: number;
  readonly planId: number;
  /** Of the subscription, in epoch milliseconds. */
  readonly trialEndsAt: number | null;
  readonly paidThroughAt: number | null;
  /** The interval of the line, or that of its subscription. */
  readonly unit: IntervalUnit;
  readonly count: number;
};

const fields = Object.entries(columnsOf(records.subscription.fields.lines.fields))
  .map(([name, column]) => `l.${column.split(' ', 1)[0]} as "${name}"`)
  .join(', ');

/** The lines of the given subscriptions, in any order. */
export function listStoredLines(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<StoredLine[]> {
  return tx<StoredLine[]>`
    select ${tx.unsafe(fields)}, l.subscription_id as "subscriptionId", l.position, s.plan_id as "planId",
      (extract(epoch from s.trial_ends_at) * 1000)::bigint as "trialEndsAt",
      (extract(epoch from s.paid_through_at) * 1000)::bigint as "paidThroughAt",
      coalesce(l.interval_unit, s.own_interval_unit, p.interval_unit) as unit,
      coalesce(l.interval_count, s.own_interval_count, p.interval_count) as count
    from unnest(${arrayText(ids)}::text::bigint[]) as i(id)
    cross join ${lookup(tx, shopId, 'subscriptions', 'subscription_id', 'i.id')} s
    cross join ${lookup(tx, shopId, 'plans', 'plan_id', 's.plan_id')} p
    cross join ${each(tx, shopId, 'subscription_lines', 'subscription_id', 'i.id')} l`;
}
