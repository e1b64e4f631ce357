import type { Ratio } from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type AgeBand, type ChurnGroup, type Window, ageBands } from './churn.ts';
import { type ActiveValue, movements } from './facts.ts';
import { monthlyValue } from './figures.ts';
import type { MovementValues } from './movements.ts';

interface Sum extends ActiveValue {
  readonly part: keyof MovementValues;
}

const iso = (at: number) => new Date(at).toISOString();

/**
 * The same as summariseMovements, following the definitions directly: each subscription's status before and after
 * each instant at which it changed, from the records alone.
 * @param from, to epoch milliseconds; includes `from`, excludes `to`
 */
export async function movementsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  from: number,
  to: number,
): Promise<MovementValues> {
  const sums = await sql<Sum[]>`
    with instants as materialized (
      select subscription_id, at from status_events
      where shop_id = ${shopId} and at >= ${iso(from)} and at < ${iso(to)}
      union
      select subscription_id, created_at from subscriptions
      where shop_id = ${shopId} and created_at >= ${iso(from)} and created_at < ${iso(to)}
    ),
    changes as (
      select i.at, h.*,
        case when h.created_at < i.at then coalesce(before.to_status, 'active') else '' end as was,
        coalesce(after.to_status, 'active') as became
      from instants i
      cross join lateral (
        select * from subscriptions
        where shop_id = ${shopId}
          and subscription_id between i.subscription_id and i.subscription_id
        order by subscription_id limit 1
      ) h
      left join lateral (
        select e.to_status from status_events e
        where e.shop_id = ${shopId} and e.subscription_id = i.subscription_id and e.at < i.at
        order by e.position desc limit 1
      ) before on true
      left join lateral (
        select e.to_status from status_events e
        where e.shop_id = ${shopId} and e.subscription_id = i.subscription_id and e.at <= i.at
        order by e.position desc limit 1
      ) after on true
    ),
    moved as (
      select c.plan_id, c.own_interval_unit, c.own_interval_count, c.current_price,
        case
          when c.became <> 'active' then c.became
          when c.was = 'paused' then 'resumed'
          when c.was <> '' then 'reactivated'
          when earlier.is_there then 'added'
          else 'new'
        end as part
      from changes c
      left join lateral (
        select true as is_there from (
          select * from subscriptions
          where shop_id = ${shopId} and customer_id between c.customer_id and c.customer_id
          order by customer_id offset 0
        ) o
        where (o.created_at, o.subscription_id) < (c.created_at, c.subscription_id)
        limit 1
      ) earlier on true
      where (c.was = 'active') <> (c.became = 'active')
    ),
    active as (
      select s.plan_id, s.own_interval_unit, s.own_interval_count, s.current_price, v.part
      from (
        select * from subscriptions where shop_id = ${shopId} order by subscription_id offset 0
      ) s
      join (values ('opening', ${iso(from)}::timestamptz), ('closing', ${iso(to)})) v (part, at)
        on s.created_at < v.at
      left join lateral (
        select e.to_status from status_events e
        where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at < v.at
        order by e.position desc limit 1
      ) past on true
      where coalesce(past.to_status, 'active') = 'active'
    )
    select f.part, coalesce(f.own_interval_unit, p.interval_unit) as unit,
      coalesce(f.own_interval_count, p.interval_count) as count, sum(f.current_price) as sum
    from (select * from active union all select * from moved) f
    cross join lateral (
      select * from plans where shop_id = ${shopId} and plan_id = f.plan_id limit 1
    ) p
    group by 1, 2, 3`;
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
