import { isoTime } from '../../iso-time.ts';
import { lookup } from '../../store/lookup.ts';
import { type Period, day, lastBefore } from '../bounds.ts';
import { ageBands } from '../churn.ts';
import { type Part, reaches } from '../ledger.ts';
import { type Asked, type Counted, noReason, told } from './question.ts';

/*
 * Churn and MRR count subscriptions as they were at an instant. They start from what all are now, from one index alone,
 * and take back what has changed since, so that only changes cost look-ups.
 */

const columns =
  'created_at, plan_id, own_interval_unit, own_interval_count, current_price, feed, status, status_since';

/**
 * The subscriptions at risk, and those of them that left. First each counts as if it had been live until its present
 * status began; those that had ended before, and returned or ended again, are then replaced.
 */
export function churnRateOf(asked: Asked, names: readonly string[]): Counted {
  const { sql, shopId, before, now } = asked;
  const since = isoTime(Math.min(before.from, now.from));
  const ended = sql`
    select s.*, 1 as sign from unnest('{cancelled,expired,failed}'::text[]) is_now (status)
    cross join lateral (
      select ${sql.unsafe(columns)} from subscriptions
      where shop_id = ${shopId} and status between is_now.status and is_now.status and status_since >= ${since}
      order by status, created_at, subscription_id offset 0
    ) s`;
  const lengths = `{${reaches.join(',')}}`;
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
  return { rows, groups: sql`select ${grouping(asked, names)}, 0, s.count, null from (${live}) s` };
}

/** The value of what was active and out of trial at the ends of both periods, at the prices of then. */
export function mrrOf(asked: Asked, names: readonly string[]): Counted {
  const { sql, shopId, ends, before, now } = asked;
  const first = ends[before.until < now.until ? 0 : 1];
  const moved = sql`
    select s.*, e.at, (e.from_status = 'active')::integer - (e.to_status = 'active')::integer as sign
    from (
      select subscription_id, at, from_status, to_status from status_events
      where shop_id = ${shopId} and at > ${first} order by at offset 0
    ) e
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'e.subscription_id')} s
    where 'active' in (e.from_status, e.to_status)`;
  const inTrial = sql`
    select * from subscriptions
    where shop_id = ${shopId} and trial_ends_at > ${first} order by trial_ends_at offset 0`;
  const mixed = sql`
    select * from subscriptions
    where shop_id = ${shopId} and other_intervals is not null order by current_price offset 0`;
  const revalued = sql`
    select * from subscriptions
    where shop_id = ${shopId} and past_values is not null and last_value_change(past_values) > ${first}
    order by last_value_change(past_values) offset 0`;
  const rows = sql`
    select s.period, ${told(asked)}, s.billed, null::text as reason, s.price, 0 as n, 0 as d, s.until as counted_at
    from (
      select p.period, p.until, ${told(asked)}, null::text as billed, s.sign * s.current_price as price
      from (${moved}) s
      join periods p on s.at > p.at and s.created_at <= p.at
      where s.status_since is not null and (s.trial_ends_at > p.at) is not true
      union all
      select p.period, p.until, ${told(asked)}, null, -s.current_price
      from (${inTrial}) s
      join periods p on s.trial_ends_at > p.at and s.created_at <= p.at
      where s.status = 'active'
      union all
      -- The price of some is not all billed at their own interval.
      select s.period, s.until, ${told(asked)}, v.billed, v.price
      from (${statusThen(asked, mixed)}) s
      cross join lateral jsonb_each_text(s.other_intervals) o
      cross join lateral (values (null, -o.value::numeric), (o.key, o.value::numeric)) v (billed, price)
      where s.status = 'active' and (s.trial_ends_at > s.at) is not true
        and (last_value_change(s.past_values) > s.at) is not true
      union all
      -- That of others was not what it is now.
      select s.period, s.until, ${told(asked)}, v.billed, v.price
      from (${statusThen(asked, revalued)}) s
      cross join lateral (
        select interval_unit || ' ' || interval_count as billed from plans
        where shop_id = ${shopId} and plan_id = s.plan_id limit 1
      ) p
      cross join lateral (
        select null as billed, -s.current_price as price
        union all
        select coalesce(nullif(key, ''), p.billed), value::numeric
        from jsonb_each_text(amounts_at(s.past_values, s.at))
      ) v
      where s.status = 'active' and (s.trial_ends_at > s.at) is not true
        and last_value_change(s.past_values) > s.at
    ) s`;
  const active = present(asked, names, ['active']);
  return { rows, groups: sql`select ${grouping(asked, names)}, 0, 0, price from (${active}) s` };
}

/** The subscriptions that have a status now and had begun by the end of a period, grouped by the names. */
function present(asked: Asked, names: readonly string[], statuses: readonly string[]): Part {
  const { sql, shopId, ends, before, now } = asked;
  // The ages of a subscription at both ends are a group together, so that all are read once.
  const grouped = sql.unsafe(names.map((name) => (name === 'band' ? 'bands' : name)).join(', '));
  const ofStatus = (status: string) => sql`
    (
      select *, (created_at <= ${ends[0]})::integer + 2 * (created_at <= ${ends[1]})::integer as begun,
        8 * ${bandAt(asked, before)} + ${bandAt(asked, now)} as bands
      from subscriptions
      where shop_id = ${shopId} and status between ${status} and ${status} and status_since is not null
      order by status, created_at, subscription_id offset 0
    )`;
  const all = statuses.map(ofStatus).reduce((first, second) => sql`${first} union all ${second}`);
  return sql`
    select p.period, s.* from (
      select begun, ${grouped}, count(*), sum(current_price) as price
      from (${all}) s
      group by begun, ${grouped}
    ) s
    join periods p on (s.begun >> p.period) & 1 = 1`;
}

const grouping = ({ sql }: Asked, names: readonly string[]): Part =>
  sql.unsafe(
    ['period', 'null', ...names]
      .map((name) =>
        name === 'band' ? 'case period when 0 then bands / 8 else bands % 8 end' : name,
      )
      .join(', '),
  );

/** The index of the age band at the end of a period: cheaper by when a subscription began than by its age. */
function bandAt({ sql }: Asked, { until }: Period): Part {
  const younger = ageBands
    .slice(0, -1)
    .map(
      (band, index) =>
        sql`when created_at > ${isoTime(until - band.until * day)} then ${index}::integer`,
    )
    .reduce((all, one) => sql`${all} ${one}`);
  return sql`case ${younger} else ${ageBands.length - 1}::integer end`;
}

/** What dated subscriptions were at the end of each period, and since when; and whether they were live before it. */
const statusThen = (asked: Asked, subscriptions: Part): Part => asked.sql`
  select ${told(asked)}, s.trial_ends_at, s.other_intervals, s.past_values, p.*, coalesce(e.status, 'active') as status,
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
