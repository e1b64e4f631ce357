import type { Period } from '../bounds.ts';
import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type SegmentAt, subscriptionsOf } from './subscriptions.ts';
import type { Ratio } from '../../money.ts';
import { monthlyValue, type IntervalText, parseInterval } from '../../mrr.ts';
import { type MovementValues, lineNames } from '../movements.ts';
import { type ChangedValues, type RetainedValues, retainedOf } from '../retention.ts';
import { type CohortOptions, type CohortRow, listMonths } from '../cohorts.ts';

/**
 * The beginning of a statement: `in_segment`, the subscriptions of a segment or all of a shop's; `held`, the same with
 * what holds among their customer's; and `periods`, each status of each and when it began and ended, from the records
 * alone, each value that it had apart: `trial` while it is active in its trial. Of several changes at one instant, only what they come to; of those
 * whose status has no date, none.
 */
export function periodsOf(sql: Sql | Transaction, shopId: number, segment?: SegmentAt) {
  return sql`
    in_segment as (${subscriptionsOf(sql, shopId, segment)}),
    held as materialized (
      select c.subscription_id, c.customer_id, c.created_at, c.current_price, c.other_intervals, c.past_values, c.unit,
        c.count, c.billed_by_plan, c.trial_ends_at, c.status_since,
        min(c.created_at) over (partition by c.customer_id) as customer_since,
        row_number() over (
          partition by c.customer_id order by c.created_at, c.subscription_id
        ) = 1 as is_first
      from in_segment c
    ),
    -- Each row has all that is needed: the planner knows nothing of these parts, and would join them row by row.
    steps as (
      select h.*, 'active' as status, h.created_at as since, -1 as position
      from held h where h.status_since is not null
      union all
      select h.*, e.to_status, e.at, e.position
      from held h
      cross join lateral (
        select * from status_events where shop_id = ${shopId} and subscription_id = h.subscription_id
        order by position offset 0
      ) e
      where h.status_since is not null
    ),
    dated as (
      select s.*,
        lead(s.since, 1, 'infinity') over (partition by s.subscription_id order by s.position) as until
      from steps s
    ),
    -- Two of one that is active when its trial ends, and as many as it had values.
    parts as (
      select d.subscription_id, d.customer_id, d.created_at, d.current_price, d.other_intervals, d.unit, d.count, d.billed_by_plan,
        d.customer_since, d.is_first, d.trial_ends_at, v.status, worth.amounts,
        greatest(v.since, worth.since) as since, least(v.until, worth.until) as until
      from dated d
      cross join lateral (
        values (case when d.status = 'active' then coalesce(d.trial_ends_at, '-infinity') else '-infinity' end)
      ) t (ends_at)
      cross join lateral (
        values ('trial', d.since, least(d.until, t.ends_at)), (d.status, greatest(d.since, t.ends_at), d.until)
      ) v (status, since, until)
      cross join lateral (
        select '-infinity'::timestamptz as since, 'infinity'::timestamptz as until, null::jsonb as amounts
        where d.past_values is null or v.status not in ('active', 'trial')
        union all
        select * from values_of(d.past_values) where v.status in ('active', 'trial')
      ) worth
      where v.until > v.since and worth.until > v.since and worth.since < v.until
    ),
    periods as materialized (
      select p.*, lag(p.status, 1, '') over (partition by p.subscription_id order by p.since) as was,
        lag(p.amounts) over (partition by p.subscription_id order by p.since) as were_amounts,
        min(p.since) filter (where p.status = 'active') over (partition by p.subscription_id) as valued_since
      from parts p
    )`;
}

interface Sum {
  readonly part: keyof MovementValues;
  readonly billed: IntervalText;
  /** Of the prices, a decimal. */
  readonly sum: string;
}

/**
 * The same as summariseMovements, from the records: each subscription's status before and after
 * each instant at which it changed.
 * @param segment if only its subscriptions are to exist
 */
export async function movementsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment?: SegmentAt,
): Promise<MovementValues> {
  const sums = await sql<Sum[]>`
    with ${periodsOf(sql, shopId, segment)},
    valued as (
      select p.customer_id, p.since, a.key, a.amount, p.billed_by_plan as billed
      from periods p
      cross join lateral (
        select key, value::numeric as amount from jsonb_each_text(p.amounts)
        union all
        select key, -value::numeric from jsonb_each_text(p.were_amounts)
      ) a
      where p.since >= ${isoTime(from)} and p.since < ${isoTime(until)}
        and p.status = 'active' and p.was = 'active'
    ),
    -- What changed for a customer at one instant counts together.
    revalued as (
      select case
          when round(sum(sum(monthly_amount(v.amount, i.billed_at))) over (partition by v.customer_id, v.since), 30) < 0
          then 'contraction' else 'expansion'
        end as part, i.billed_at, sum(v.amount) as amount
      from valued v cross join lateral (values (coalesce(nullif(v.key, ''), v.billed))) i (billed_at)
      group by v.customer_id, v.since, i.billed_at
    ),
    moved as (
      select p.unit, p.count, p.current_price, p.other_intervals, p.billed_by_plan, p.amounts, v.part
      from periods p
      join (values ('opening', ${isoTime(from)}::timestamptz), ('closing', ${isoTime(until)})) v (part, at)
        on v.at > p.since and v.at <= p.until
      where p.status = 'active'
      union all
      select p.unit, p.count, p.current_price, p.other_intervals, p.billed_by_plan,
        case when p.status = 'active' then p.amounts else p.were_amounts end,
        case
          when p.status <> 'active' then p.status
          when p.was = '' or p.trial_ends_at is not null and p.since = p.valued_since
            then case when p.is_first then 'new' else 'added' end
          when p.was = 'paused' then 'resumed'
          else 'reactivated'
        end
      from periods p
      where p.since >= ${isoTime(from)} and p.since < ${isoTime(until)}
        and (p.status = 'active') <> (p.was = 'active')
    )
    select part, v.billed_at as billed, sum(v.price_then) as sum
    from moved cross join lateral prices_by_interval(current_price, other_intervals, unit || ' ' || count, amounts, billed_by_plan) v
    group by part, v.billed_at
    union all
    select part, billed_at, sum(case part when 'expansion' then amount else -amount end)
    from revalued group by part, billed_at`;
  const values = lineNames.map((name) => [
    name,
    monthlyValue(
      sums
        .filter(({ part }) => part === name)
        .map(({ billed, sum }) => ({ ...parseInterval(billed), sum })),
    ),
  ]);
  return Object.fromEntries(values) as Record<keyof MovementValues, Ratio>;
}

/** The same as summariseRetention, from the records: what each customer was worth at both ends. */
export async function retentionFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  segment?: SegmentAt,
): Promise<RetainedValues> {
  const [from, until] = [isoTime(period.from), isoTime(period.until)];
  const [found] = await sql<ChangedValues[]>`
    with ${periodsOf(sql, shopId, segment)},
    worth as (
      select p.customer_id, coalesce(sum(value) filter (where p.since < ${from} and p.until >= ${from}), 0) as opening,
        coalesce(sum(value) filter (where p.since < ${until} and p.until >= ${until}), 0) as closing
      from periods p
      cross join lateral (
        select sum(monthly_amount(v.price_then, v.billed_at)) as value
        from prices_by_interval(p.current_price, p.other_intervals, p.unit || ' ' || p.count, p.amounts, p.billed_by_plan) v
      ) v
      where p.status = 'active' and p.since < ${until} and p.until >= ${from}
      group by p.customer_id
    )
    select round(coalesce(sum(closing - opening), 0), 30)::text as change,
      round(coalesce(sum(greatest(opening - closing, 0)), 0), 30)::text as lost
    from worth where round(opening, 30) > 0`;
  return retainedOf(await movementsFromRecords(sql, shopId, period, segment), found);
}

/**
 * What holds for each cohort at the end of each month, from the records: each subscription's
 * status at that instant, so the cost grows with the shop, or with the segment.
 * @param segment if only its subscriptions are to exist
 */
export function cohortsFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  options: CohortOptions,
  segment?: SegmentAt,
) {
  const months = listMonths(options);
  const list = (field: 'month' | 'end') => `{${months.map((each) => each[field]).join(',')}}`;
  return sql<CohortRow[]>`
    with ${periodsOf(sql, shopId, segment)},
    months as materialized (
      select * from unnest(${list('month')}::text[], ${list('end')}::timestamptz[]) m (month, ends_at)
    ),
    seen as materialized (
      select p.*, to_char(p.customer_since at time zone 'UTC', 'YYYY-MM') as cohort
      from periods p
      where p.created_at < ${isoTime(options.now)}
    ),
    -- Who was live at the end of each month.
    live as materialized (
      select s.cohort, m.month, s.customer_id, s.unit || ' ' || s.count as billed, s.current_price,
        s.other_intervals, s.amounts, s.billed_by_plan, s.status = 'active' as is_active
      from seen s
      join months m on m.ends_at > s.since and m.ends_at <= s.until
      where s.status in ('active', 'trial', 'paused') and s.cohort >= (select min(month) from months)
    )
    select cohort, cohort as month, 'customers' as fact, count(distinct customer_id) as count,
      0::numeric as amount
    from (
      select customer_id, to_char(customer_since at time zone 'UTC', 'YYYY-MM') as cohort
      from held where created_at < ${isoTime(options.now)}
    ) begun
    where cohort >= (select min(month) from months) group by cohort
    union all
    select cohort, month, 'retained', count(distinct customer_id), 0
    from live group by cohort, month
    union all
    select cohort, month, v.billed_at, sum(v.subscriptions)::bigint, sum(v.price_then)
    from live cross join lateral prices_by_interval(current_price, other_intervals, billed, amounts, billed_by_plan) v
    where is_active group by cohort, month, v.billed_at`;
}
