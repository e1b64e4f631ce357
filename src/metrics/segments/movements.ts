import type { Ratio } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type AgeBand, type ChurnGroup, type Window, ageBands } from '../churn.ts';
import { type ActiveValue, movements } from '../facts.ts';
import { monthlyValue } from '../figures.ts';
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

const bandOf = (days: number) => ageBands.findLast(({ from }) => days >= from) as AgeBand;

/** The same as listChurnGroups, from the records alone. */
export async function churnFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
): Promise<ChurnGroup[]> {
  const rows = await sql<(Omit<ChurnGroup, 'age'> & { readonly ageDays: number })[]>`
    with seen as (
      select e.*,
        last_value(e.to_status) over whole as last,
        max(e.position) filter (where e.to_status in ('active', 'paused')) over whole as live_at
      from status_events e
      where e.shop_id = ${shopId} and e.at <= ${iso(now)}
      window whole as (partition by e.subscription_id order by e.position
        rows between unbounded preceding and unbounded following)
    ),
    -- What followed the last time a subscription was live; its first event is when it left.
    ends as (
      select subscription_id, min(at) as left_at,
        (array_agg(to_status order by position)) as statuses,
        array_agg(at order by position) as times
      from seen
      where position > coalesce(live_at, -1) and last in ('cancelled', 'failed')
      group by subscription_id
    ),
    causes as (
      select subscription_id, left_at, (
          select to_status from unnest(statuses, times) with ordinality s (to_status, at, number)
          where s.at = left_at order by number desc limit 1
        ) as cause
      from ends where left_at >= ${iso(from)} and left_at < ${iso(until)}
    )
    select s.plan_id as "planId", case when c.cause = 'failed' then 'failed' else 'cancelled' end as cause,
      floor(date_part('epoch', c.left_at - s.created_at) / 86400)::integer as "ageDays",
      count(*) as count
    from causes c
    cross join lateral (
      select plan_id, created_at from subscriptions
      where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
      order by subscription_id limit 1
    ) s
    group by 1, 2, 3`;
  const keyOf = ({ planId, cause, ageDays }: (typeof rows)[number]) =>
    `${planId} ${cause} ${bandOf(ageDays).name}`;
  return [...Map.groupBy(rows, keyOf).values()].map((group) => {
    const [{ planId, cause, ageDays }] = group as [(typeof rows)[number]];
    const count = group.reduce((sum, each) => sum + each.count, 0);
    return { planId, cause, age: bandOf(ageDays), count };
  });
}
