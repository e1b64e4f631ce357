-- What happened to a customer as a subscriber, one row for each instant at which anything did.
--
-- * A customer is a subscriber while at least one subscription is active, and a paused subscriber while at least one is
--   paused and none is active. They are new when the first subscription ever begins; at equal times, of the least id.
-- * A subscription is live while it is active or paused. It churned if its status is cancelled or failed, and expired
--   if it is that: either counts when it was live for the last time. A subscription that came back did neither.
-- * Several changes of a subscription at one instant count as what they come to.
-- * Each change of an active subscription is a movement: it begins (new, or added if another of the customer came
--   before), comes back (resumed from paused, else reactivated), or ceases (paused, cancelled, expired, failed).
-- * A subscription that leaves active takes the value that it had just before; one that becomes active brings what it is
--   worth from then on. In between, a change of its value is a movement: all those of a customer at one instant together
--   are an expansion, or a contraction if they come to less than nothing.
-- * A subscription that is active in its trial is live, and its customer a subscriber, but it is no movement: it begins
--   (new or added) at the first instant at which it is active and out of trial.
-- * Of a subscription whose status has no date, only its beginning counts; if it is paused, also that.
-- * A customer belongs to the cohort of the UTC month in which the first subscription began.

-- The changes of some customers, from their subscriptions.
create or replace function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_change language plpgsql stable as $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at, s.trial_ends_at,
      s.current_price, s.other_intervals, price_at(s.current_price, s.other_intervals, '') as own_price,
      s.past_values, coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as billed,
      p.interval_unit || ' ' || p.interval_count as billed_by_plan,
      row_number() over (
        partition by s.customer_id order by s.created_at, s.subscription_id
      ) = 1 as is_first
    from unnest(customer_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and customer_id between wanted.id and wanted.id
      order by customer_id offset 0
    ) s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
  ),
  steps as (
    select h.*, h.created_at as at, -1 as position, 'active' as to_status
    from held h where h.status_since is not null
    union all
    select h.*, e.at, e.position, e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      order by position offset 0
    ) e
    where h.status_since is not null
    union all
    -- If it is active when its trial ends, its value counts from then on.
    select h.*, h.trial_ends_at, 32766, 'active'
    from held h
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id and e.at <= h.trial_ends_at
      order by e.position desc limit 1
    ) became on true
    where h.status_since is not null and h.trial_ends_at > h.created_at
      and coalesce(became.to_status, 'active') = 'active'
  ),
  -- Of those that were worth something else before, each change of that is a step, too, while they are active; and each
  -- step has what the last one before it says. In one pass, as there may be thousands.
  marked as (
    select s.*, null::jsonb as amounts from steps s where s.past_values is not null
    union all
    select h.*, v.since, 32767, null, v.amounts
    from held h cross join lateral values_of(h.past_values) v
    where h.past_values is not null and h.status_since is not null
  ),
  placed as (
    select m.*, count(m.to_status) over (partition by m.subscription_id order by m.at, m.position) as status_place,
      count(m.amounts) over (
        partition by m.subscription_id order by m.at, m.amounts is null, m.position
      ) as value_place
    from marked m
  ),
  carried as (
    select p.*, first_value(p.to_status) over (
        partition by p.subscription_id, p.status_place order by p.at, p.position
      ) as status_then,
      first_value(p.amounts) over (
        partition by p.subscription_id, p.value_place order by p.at, p.amounts is null, p.position
      ) as amounts_then
    from placed p
  ),
  valued as (
    select s.*, null::jsonb as amounts from steps s where s.past_values is null
    union all
    select c.customer_id, c.subscription_id, c.status, c.status_since, c.created_at, c.trial_ends_at, c.current_price,
      c.other_intervals, c.own_price, c.past_values, c.billed, c.billed_by_plan, c.is_first, c.at, c.position,
      c.status_then, c.amounts_then
    from carried c
    where c.to_status is not null or c.status_then = 'active' and c.at > c.created_at
  ),
  dated as (
    select s.*,
      case when s.to_status = 'active' and s.at < s.trial_ends_at then 'trial' else s.to_status end as phase,
      lead(s.at) over (partition by s.subscription_id order by s.at, s.position) as until
    from valued s
  ),
  -- Of several changes of a subscription at one instant, only what they come to.
  netted as (
    select d.*, lag(d.phase, 1, '') over past as was, lag(d.amounts) over past as were_amounts,
      count(*) filter (where d.phase = 'active') over past = 1 as is_first_time
    from dated d where d.until is distinct from d.at
    window past as (partition by d.subscription_id order by d.at, d.position)
  ),
  moves as (
    select n.*,
      (n.phase = 'active')::int - (n.was = 'active')::int as is_active,
      (n.phase = 'trial')::int - (n.was = 'trial')::int as is_trial,
      (n.phase = 'paused')::int - (n.was = 'paused')::int as is_paused,
      case
        when n.phase = 'active' and n.was = 'active' then 'value'
        when n.phase <> 'active' then n.phase
        when n.was = '' or n.trial_ends_at is not null and n.is_first_time
          then case when n.is_first then 'new' else 'added' end
        when n.was = 'paused' then 'resumed'
        else 'reactivated'
      end as movement
    from netted n
  ),
  -- Of those whose values changed: what came and went, by billing interval.
  amounts as (
    select m.customer_id, m.at, m.movement, coalesce(nullif(a.key, ''), m.billed_by_plan) as billed, a.amount
    from moves m
    cross join lateral (
      select key, value::numeric as amount from jsonb_each_text(m.amounts) where m.phase = 'active'
      union all
      select key, -value::numeric from jsonb_each_text(m.were_amounts) where m.was = 'active'
    ) a
    where m.past_values is not null
  ),
  netted_values as (
    select a.customer_id, a.at,
      case when round(sum(monthly_amount(a.amount, a.billed)), 30) < 0 then 'contraction' else 'expansion' end
        as movement
    from amounts a where a.movement = 'value' group by a.customer_id, a.at
  ),
  parts as (
    select m.customer_id, m.at, 'active ' || m.billed || ' ' || m.movement as fact, m.is_active,
      case when m.past_values is null then m.is_active * m.own_price else 0 end as amount, m.is_trial,
      case when m.past_values is null then m.is_trial * m.current_price
        else price_in(m.amounts, m.phase = 'trial') - price_in(m.were_amounts, m.was = 'trial') end as trial_amount,
      m.is_paused,
      (m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at)) is true as is_cancelled_before
    from moves m
    union all
    select m.customer_id, m.at, 'active ' || o.key || ' ' || m.movement, 0, m.is_active * o.value::numeric, 0, 0,
      0, false
    from moves m cross join lateral jsonb_each_text(m.other_intervals) o
    where m.is_active <> 0 and m.past_values is null
    union all
    select a.customer_id, a.at, 'active ' || a.billed || ' ' || coalesce(n.movement, a.movement), 0, a.amount, 0, 0,
      0, false
    from amounts a
    left join netted_values n on a.movement = 'value' and n.customer_id = a.customer_id and n.at = a.at
  ),
  by_movement as (
    select p.customer_id, p.at, p.fact, sum(p.is_active)::int as active_count,
      sum(p.amount) as active_amount, sum(p.is_trial)::int as trial, sum(p.trial_amount) as trial_amount,
      sum(p.is_paused)::int as paused_count, 0 as paused_undated, 0 as new_subscriber, 0 as cancelled,
      count(*) filter (where p.is_cancelled_before)::int as cancelled_before,
      0 as churned, 0 as churned_failed, 0 as expired
    from parts p group by p.customer_id, p.at, p.fact
    union all
    select h.customer_id, h.created_at, '', 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0
    from held h where h.is_first
    union all
    select h.customer_id, h.created_at, '', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0
    from held h where h.status = 'paused' and h.status_since is null
    union all
    select h.customer_id, h.status_since, '', 0, 0, 0, 0, 0, 0, 0, count(*)::int, 0, 0, 0, 0
    from held h where h.status = 'cancelled' and h.status_since is not null
    group by h.customer_id, h.status_since
    union all
    select h.customer_id, coalesce(e.at, h.status_since), '', 0, 0, 0, 0, 0, 0, 0, 0, 0,
      (h.status <> 'expired')::int,
      (h.status <> 'expired' and coalesce(e.to_status, h.status) = 'failed')::int,
      (h.status = 'expired')::int
    from held h
    left join lateral (
      select e.at from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id
        and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
      order by e.position desc limit 1
    ) leaving on true
    left join lateral (
      select e.at, e.to_status from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id and e.at = leaving.at
      order by e.position desc limit 1
    ) e on true
    where h.status not in ('active', 'paused') and h.status_since is not null
  ),
  moments as (
    select b.customer_id, b.at, sum(b.active_count + b.trial)::int as active,
      sum(b.trial)::int as trial, trim_scale(sum(b.trial_amount)) as trial_amount,
      sum(b.paused_count)::int as paused, sum(b.paused_undated)::int as undated, sum(b.new_subscriber)::int as new_subscriber,
      sum(b.cancelled)::int as cancelled, sum(b.cancelled_before)::int as cancelled_before,
      sum(b.churned)::int as churned, sum(b.churned_failed)::int as churned_failed,
      sum(b.expired)::int as expired,
      coalesce(
        array_agg(
          row(b.fact, b.active_count, trim_scale(b.active_amount))::active_change
          order by b.fact
        ) filter (where b.active_count <> 0 or b.active_amount <> 0), '{}'
      ) as actives
    from by_movement b group by b.customer_id, b.at
  ),
  states as (
    select m.*, sum(m.active) over past > 0 as is_subscriber,
      sum(m.active) over past <= 0 and sum(m.paused) over past > 0 as is_paused,
      sum(m.active) over past <= 0 and sum(m.paused) over past <= 0 and sum(m.undated) over past > 0
        as is_undated
    from moments m
    window past as (partition by m.customer_id order by m.at)
  ),
  changes as (
    select s.customer_id, s.at, s.new_subscriber,
      s.is_subscriber::int - lag(s.is_subscriber::int, 1, 0) over past as subscriber,
      s.is_paused::int - lag(s.is_paused::int, 1, 0) over past as paused_subscriber,
      s.active + s.paused as live, s.cancelled, s.cancelled_before, s.churned, s.expired, s.actives,
      -- A customer's first change is that their first subscription begins.
      s.churned_failed,
      to_char(first_value(s.at) over past at time zone 'UTC', 'YYYY-MM') as cohort, s.trial, s.trial_amount,
      s.is_undated::int - lag(s.is_undated::int, 1, 0) over past as paused_undated
    from states s
    window past as (partition by s.customer_id order by s.at)
  )
  select c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired, c.trial, c.trial_amount, c.paused_undated)
    <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
end $$;

create or replace function refresh_subscribers(shop bigint, customer_ids bigint[])
returns void language plpgsql as $$
declare
  changes subscriber_change[];
  outdated bigint[];
begin
  if cardinality(customer_ids) = 0 then return; end if;
  changes := array(select c from subscriber_changes_of(shop, customer_ids) c);

  select array_agg(distinct s.customer_id) into outdated
  from unnest(customer_ids) wanted (id)
  cross join lateral (
    select customer_id, at from subscriber_changes
    where shop_id = shop and customer_id between wanted.id and wanted.id
    order by customer_id offset 0
  ) s
  where (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
  if outdated is not null then
    delete from subscriber_changes s
    where s.shop_id = shop and s.customer_id = any (outdated)
      and (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
    delete from customer_values v
    where v.shop_id = shop and v.customer_id = any (outdated)
      and v.customer_id not in (select c.customer_id from unnest(changes) c);
  end if;

  insert into subscriber_changes (shop_id, customer_id, at, new_subscriber, subscriber,
    paused_subscriber, live, cancelled, cancelled_before, churned, expired, active, churned_failed,
    cohort, trial, trial_amount, paused_undated)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(changes) c
  left join lateral (
    select * from subscriber_changes
    where shop_id = shop and customer_id between c.customer_id and c.customer_id
    order by customer_id offset 0
  ) s on s.at = c.at
  where m.shop_id = shop
    and (s.new_subscriber, s.subscriber, s.paused_subscriber, s.live, s.cancelled,
      s.cancelled_before, s.churned, s.expired, s.active, s.churned_failed, s.cohort, s.trial,
      s.trial_amount, s.paused_undated)
    is distinct from (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live, c.cancelled,
      c.cancelled_before, c.churned, c.expired, c.active, c.churned_failed, c.cohort, c.trial,
      c.trial_amount, c.paused_undated)
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active,
    churned_failed = excluded.churned_failed, cohort = excluded.cohort,
    trial = excluded.trial, trial_amount = excluded.trial_amount, paused_undated = excluded.paused_undated;

  insert into customer_values as stored (shop_id, customer_id, since, value)
  select m.shop_id, v.* from metric_shops m cross join customer_values_in(changes) v
  where m.shop_id = shop
  on conflict (shop_id, customer_id) do update set since = excluded.since, value = excluded.value
    where (stored.since, stored.value) is distinct from (excluded.since, excluded.value);
end $$;

-- `month 1`, of `active month 1 paused`.
create or replace function interval_of_fact(fact text) returns text language sql immutable as $$
  select split_part(fact, ' ', 2) || ' ' || split_part(fact, ' ', 3)
$$;

-- The same with one row for each fact. A customer of a cohort is retained while a subscriber or a paused subscriber.
create or replace view subscriber_facts as
select c.shop_id, c.at, v.fact, v.count, v.amount
from subscriber_changes c
cross join lateral (
  values ('new_subscriber', c.new_subscriber, 0), ('subscriber', c.subscriber, 0),
    ('paused_subscriber', c.paused_subscriber, 0),
    ('paused_undated', c.paused_undated, 0), ('trial', c.trial, c.trial_amount), ('live', c.live, 0),
    ('cancelled', c.cancelled, 0), ('cancelled_before', c.cancelled_before, 0),
    ('churned', c.churned, 0), ('churned_failed', c.churned_failed, 0), ('expired', c.expired, 0),
    ('cohort ' || c.cohort || ' customers', c.new_subscriber, 0),
    ('cohort ' || c.cohort || ' retained', c.subscriber + c.paused_subscriber, 0)
  union all
  select a.fact, a.count, a.amount from unnest(c.active) a
  union all
  select 'cohort ' || c.cohort || ' ' || interval_of_fact(a.fact), a.count, a.amount
  from unnest(c.active) a
) v (fact, count, amount)
where v.count <> 0 or v.amount <> 0;
