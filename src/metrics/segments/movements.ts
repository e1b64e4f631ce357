import type { Ratio } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type ActiveValue, monthlyValue, movements } from '../facts.ts';
import type { MovementValues } from '../movements.ts';
import type { Selection } from './chosen.ts';
import { periodsOf } from './periods.ts';

interface Sum extends ActiveValue {
  readonly part: keyof MovementValues;
}

const iso = (at: number) => new Date(at).toISOString();

/**
 * The same as summariseMovements, following the definitions directly: each subscription's status before and after
 * each instant at which it changed, from the records alone.
 * @param from, to epoch milliseconds; includes `from`, excludes `to`
 * @param selection if only its subscriptions are to exist
 */
export async function movementsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  from: number,
  to: number,
  selection?: Selection,
): Promise<MovementValues> {
  const sums = await sql<Sum[]>`
    with ${periodsOf(sql, shopId, selection)},
    parts as (
      select p.unit, p.count, p.current_price, v.part
      from periods p
      join (values ('opening', ${iso(from)}::timestamptz), ('closing', ${iso(to)})) v (part, at)
        on v.at > p.since and v.at <= p.until
      where p.status = 'active'
      union all
      select p.unit, p.count, p.current_price,
        case
          when p.status <> 'active' then p.status
          when p.was = 'paused' then 'resumed'
          when p.was <> '' then 'reactivated'
          when p.is_first then 'new'
          else 'added'
        end
      from periods p
      where p.since >= ${iso(from)} and p.since < ${iso(to)}
        and (p.status = 'active') <> (p.was = 'active')
    )
    select part, unit, count, sum(current_price) as sum from parts group by part, unit, count`;
  const names = ['opening', ...movements, 'closing'] as const;
  const values = names.map((name) => [
    name,
    monthlyValue(sums.filter(({ part }) => part === name)),
  ]);
  return Object.fromEntries(values) as Record<keyof MovementValues, Ratio>;
}
