import { isoTime } from '../../iso-time.ts';
import { arrayText } from '../../store/database.ts';
import { lookup } from '../../store/lookup.ts';
import { day, lastBefore } from '../bounds.ts';
import { ageBands } from '../churn.ts';
import { type Part, reaches } from '../ledger.ts';
import { type Asked, type Counted, noReason, priceSteps, told } from './question.ts';

/*
 * Churn and MRR count subscriptions as they were at an instant. They start from the ledger's sums of what all are now, and
 * take back what has changed since, most of it from indexes alone.
 */

const columns =
  'created_at, plan_id, own_interval_unit, own_interval_count, current_price, feed, status, status_since';

/** The subscriptions of which something became otherwise since an instant, from one index alone. */
const changed = ({ sql, shopId }: Asked, since: string): Part => sql`
  select ${sql.unsafe(columns)}, subscription_id, trial_ends_at from subscriptions
  where shop_id = ${shopId} and status_since >= ${since} order by status_since offset 0`;

/**
 * The subscriptions at risk, and those of them that left. First each counts as if it had been live until its present
 * status began; those that had ended before, and returned or ended again, are then replaced.
 */
export function churnRateOf(asked: Asked, names: readonly string[]): Counted {
  const { sql, shopId, before, now } = asked;
  const since = isoTime(Math.min(before.from, now.from));
  const ended = sql`
    select ${sql.unsafe(columns)}, 1 as sign from (${changed(asked, since)}) s
    where status in ('cancelled', 'expired', 'failed')`;
  const lengths = arrayText(reaches);
  const endedBefore = sql`
    select distinct f.subscription_id from unnest(${lengths}::smallint[]) r (reach)
    cross join lateral (
      select subscription_id from superseded_facts
      where shop_id = ${shopId} and reach = r.reach and until >= ${since} and fact <> 'cycle_failed'
      order by until offset 0
    ) f`;
  const replaced = sql`
    select s.* from (${endedBefore}) f
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'f.subscription_id')} s
    where s.status_since is not null`;
  const isLive = sql`s.status in ('active', 'paused')`;
  const rows = sql`
    select p.period, ${told(asked)}, ${noReason(asked)}, null::numeric as price,
      s.sign * (s.status in ('cancelled', 'failed') and s.status_since < p.until)::integer as n, s.sign as d,
      case when ${isLive} then p.until else least(s.status_since, p.until) end as counted_at
    from (${ended} union all select ${sql.unsafe(columns)}, -1 from (${replaced}) s) s
    join periods p on s.created_at < p.until and (${isLive} or s.status_since >= p.since)
    union all
    select s.period, ${told(asked)}, ${noReason(asked)}, null,
      (s.status in ('cancelled', 'failed') and s.became_at < s.until)::integer, 1,
      case when ${isLive} then s.until else s.left_at end
    from (${statusThen(asked, replaced)}) s
    where s.created_at < s.until and (s.created_at >= s.since or s.live_before > 0 or s.has_come)`;
  const ends = [lastBefore(before.until), lastBefore(now.until)] as const;
  const live = present({ ...asked, ends }, names, ['active', 'paused']);
  return { rows, groups: sql`select ${grouping(asked, names)}, 0, count, null from (${live}) s` };
}

/** The value of what was active and out of trial at the ends of both periods, at the prices of then. */
export function mrrOf(asked: Asked, names: readonly string[]): Counted {
  const { sql, shopId, ends, before, now } = asked;
  const first = ends[before.until < now.until ? 0 : 1];
  const events = sql`
    select subscription_id, at, (from_status = 'active')::integer - (to_status = 'active')::integer as sign
    from status_events where shop_id = ${shopId} and at > ${first} order by at offset 0`;
  // A full join, of which no rows are dropped within, is hashed whatever the planner believes.
  const moved = sql`
    select s.*, e.at, e.sign from (${events}) e
    full join (${changed(asked, first)}) s on s.subscription_id = e.subscription_id offset 0`;
  const inTrial = sql`
    select * from subscriptions
    where shop_id = ${shopId} and trial_ends_at > ${first} order by trial_ends_at offset 0`;
  const mixed = sql`
    select * from subscriptions
    where shop_id = ${shopId} and other_intervals is not null order by current_price offset 0`;
  // Without an order, by which the time would be computed of each again. Only its index spares that.
  const revalued = sql`
    select * from subscriptions
    where shop_id = ${shopId} and past_values is not null and last_value_change(past_values) > p.at offset 0`;
  const rows = sql`
    select s.period, ${told(asked)}, s.billed, null::text as reason, s.price, 0 as n, 0 as d, s.until as counted_at
    from (
      select p.period, p.until, ${told(asked)}, null::text as billed, s.sign * s.current_price as price
      from (${moved}) s
      join periods p on s.at > p.at and s.created_at <= p.at
      where (s.trial_ends_at > p.at) is not true
      union all
      select p.period, p.until, ${told(asked)}, null, -s.current_price
      from (${inTrial}) s
      join periods p on s.trial_ends_at > p.at and s.created_at <= p.at
      where s.status = 'active' and s.status_since is not null
      union all
      -- The price of some is not all billed at their own interval.
      select p.period, p.until, ${told(asked)}, v.billed, v.price
      from ${activeThen(asked, mixed)}
      cross join lateral jsonb_each_text(s.other_intervals) o
      cross join lateral (values (null, -o.value::numeric), (o.key, o.value::numeric)) v (billed, price)
      where (last_value_change(s.past_values) > p.at) is not true
      union all
      -- That of others was not what it is now.
      select p.period, p.until, ${told(asked)}, v.billed, v.price
      from ${activeThen(asked, revalued)}
      cross join lateral (
        select null as billed, -s.current_price as price
        union all
        select case when key <> '' then without_plan(key) when s.own_interval_unit is not null then (
            select interval_unit || ' ' || interval_count from plans
            where shop_id = ${shopId} and plan_id = s.plan_id limit 1
          ) end, value::numeric
        from jsonb_each_text(amounts_seen(s.past_values, p.seen_by))
      ) v
    ) s`;
  const active = present(asked, names, ['active']);
  return { rows, groups: sql`select ${grouping(asked, names)}, 0, 0, price from (${active}) s` };
}

/** The subscriptions `s` that were active and out of trial at the end of a period `p`. */
const activeThen = ({ sql, shopId }: Asked, subscriptions: Part): Part => sql`
  periods p
  cross join lateral (${subscriptions}) s
  left join lateral (
    select from_status from status_events
    where s.status_since > p.at and shop_id = ${shopId} and subscription_id = s.subscription_id and at > p.at
    order by position limit 1
  ) left_then on true
  cross join lateral (
    select from (values (coalesce(left_then.from_status, s.status))) then_was (status)
    where then_was.status = 'active' and s.status_since is not null and s.created_at <= p.at
      and (s.trial_ends_at > p.at) is not true
  ) was_active`;

/** From when on what began was younger than the end of a band at an instant. Records have whole milliseconds. */
const firstIn = (at: number, band: (typeof ageBands)[number]) => at - band.until * day + 1;

/** What the ledger has counts as of the oldest age. What began later is taken from that. */
const total = 0;
const oldest = ageBands.length - 1;

/**
 * The subscriptions that have a status now and had begun by the end of a period, grouped by the names: all that the ledger
 * has, without those that began after the end, or were younger than the oldest age then.
 */
function present(asked: Asked, names: readonly string[], statuses: readonly string[]): Part {
  const { sql, shopId, before, now } = asked;
  const byAge = names.includes('band');
  const later = asked.ends.map((end) => Date.parse(end) + 1);
  const cuts = new Set(later);
  for (const { until } of byAge ? [before, now] : []) {
    for (const band of ageBands.slice(0, oldest)) cuts.add(firstIn(until, band));
  }
  /** When ranges of beginnings start. They are numbered from 1. */
  const starts = [...cuts].toSorted((a, b) => a - b);
  /** What counts of each range, by period and age. */
  const parts = [before, now].flatMap(({ until }, period) => [
    { range: total, period, band: oldest, sign: 1 },
    ...starts.flatMap((start, index) => {
      const range = { range: index + 1, period };
      const band = byAge ? ageBands.findIndex((each) => start >= firstIn(until, each)) : oldest;
      const isBegun = start < (later[period] as number);
      if (isBegun && band === oldest) return [];
      const taken = { ...range, band: oldest, sign: -1 };
      return isBegun ? [taken, { ...range, band, sign: 1 }] : [taken];
    }),
  ]);
  const listOf = (name: keyof (typeof parts)[number]) => arrayText(parts.map((part) => part[name]));
  const grouped = sql.unsafe(['range', ...names.filter((name) => name !== 'band')].join(', '));
  return sql`
    select c.period, c.band, s.*, c.sign * s.subscriptions as count, c.sign * s.amount as price
    from (
      select ${grouped}, sum(subscriptions) as subscriptions, sum(amount) as amount from (
        select ${total}::integer as range, split_part(fact, ' ', 3)::bigint as plan_id,
          (${arrayText(priceSteps)}::numeric[])[split_part(fact, ' ', 4)::integer + 1] as current_price,
          nullif(split_part(fact, ' ', 5), '') as own_interval_unit,
          nullif(split_part(fact, ' ', 6), '')::integer as own_interval_count,
          nullif(split_part(fact, ' ', 7), '') as feed, count as subscriptions, amount
        from metric_ledger
        where shop_id = ${shopId} and grain = 'present' and split_part(fact, ' ', 2) = any (${arrayText(statuses)}::text[])
      ) ledger
      group by ${grouped}
      union all
      select ${grouped}, count(*), sum(current_price) from (
        select s.*, width_bucket(s.created_at, ${arrayText(starts.map(isoTime))}::timestamptz[]) as range
        from unnest(${arrayText(statuses)}::text[]) is_now (status)
        cross join lateral (
          select * from subscriptions
          where shop_id = ${shopId} and (status, created_at) >= (is_now.status, ${isoTime(starts[0] as number)})
            and status <= is_now.status and status_since is not null
          order by status, created_at, subscription_id offset 0
        ) s
      ) later
      group by ${grouped}
    ) s
    join unnest(${listOf('range')}::integer[], ${listOf('period')}::integer[], ${listOf('band')}::integer[],
      ${listOf('sign')}::integer[]) c (range, period, band, sign) on c.range = s.range`;
}

const grouping = ({ sql }: Asked, names: readonly string[]): Part =>
  sql.unsafe(['period', 'null', ...names].join(', '));

/** What dated subscriptions were at the end of each period, and since when; and whether they were live before it. */
const statusThen = (asked: Asked, subscriptions: Part): Part => asked.sql`
  select ${told(asked)}, p.*, coalesce(e.status, 'active') as status,
    coalesce(e.at, s.created_at) as became_at, e.left_at, e.live_before, e.has_come
  from (${subscriptions}) s
  join periods p on s.created_at <= p.at
  left join lateral (
    select (array_agg(to_status order by position desc))[1] as status, max(at) as at,
      max(at) filter (where step = -1) as left_at, 1 + coalesce(sum(step) filter (where at < p.since), 0) as live_before,
      bool_or(step = 1 and at >= p.since and at < p.until) as has_come
    from (
      select position, at, to_status,
        (to_status in ('active', 'paused'))::integer - (from_status in ('active', 'paused'))::integer as step
      from status_events
      where shop_id = ${asked.shopId} and subscription_id = s.subscription_id and at <= p.at
      order by position offset 0
    ) e
  ) e on true
  where s.status_since is not null`;
