-- Lines with an interval of their own, trials, and changes of status whose date nobody knows.

alter table subscriptions
  -- Null if nobody knows when it became what `status` says. Then status_events has only what came before.
  alter column status_since drop not null,
  -- Until then it is worth nothing in MRR.
  add column trial_ends_at timestamptz(3),
  -- The sums of its lines that have an interval of their own, by interval ({"year 1": "120.00"}); null if none has, so
  -- that whoever needs the value of a subscription need not read its lines.
  add column other_intervals jsonb;

-- The billing interval, if it is not the subscription's.
alter table subscription_lines
  add column interval_unit text,
  add column interval_count integer;

create or replace function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_change language plpgsql stable as $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at,
      s.current_price, 'active ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) || ' ' as active,
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
    select h.customer_id, h.subscription_id, h.active, h.is_first, h.current_price, h.created_at as at,
      -1 as position, 'active' as to_status
    from held h where h.status_since is not null
    union all
    select h.customer_id, h.subscription_id, h.active, h.is_first, h.current_price, e.at, e.position,
      e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      order by position offset 0
    ) e
    where h.status_since is not null
  ),
  dated as (
    select s.*, lead(s.at) over (partition by s.subscription_id order by s.position) as until
    from steps s
  ),
  -- Of several changes of a subscription at one instant, only what they come to.
  netted as (
    select d.*,
      lag(d.to_status, 1, '') over (partition by d.subscription_id order by d.position) as from_status
    from dated d where d.until is distinct from d.at
  ),
  moves as (
    select n.*,
      (n.to_status = 'active')::int - (n.from_status = 'active')::int as is_active,
      (n.to_status = 'paused')::int - (n.from_status = 'paused')::int as is_paused,
      n.active || case
        when n.to_status <> 'active' then n.to_status
        when n.from_status = 'paused' then 'resumed'
        when n.from_status <> '' then 'reactivated'
        when n.is_first then 'new'
        else 'added'
      end as movement
    from netted n
  ),
  by_movement as (
    select m.customer_id, m.at, m.movement, sum(m.is_active)::int as active_count,
      sum(m.is_active * m.current_price) as active_amount, sum(m.is_paused)::int as paused_count,
      0 as new_subscriber, 0 as cancelled,
      count(*) filter (where m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at))
        ::int as cancelled_before,
      0 as churned, 0 as churned_failed, 0 as expired
    from moves m group by m.customer_id, m.at, m.movement
    union all
    select h.customer_id, h.created_at, '', 0, 0, 0, 1, 0, 0, 0, 0, 0
    from held h where h.is_first
    union all
    select h.customer_id, h.status_since, '', 0, 0, 0, 0, count(*)::int, 0, 0, 0, 0
    from held h where h.status = 'cancelled' and h.status_since is not null
    group by h.customer_id, h.status_since
    union all
    select h.customer_id, coalesce(e.at, h.status_since), '', 0, 0, 0, 0, 0, 0,
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
    select b.customer_id, b.at, sum(b.active_count)::int as active,
      sum(b.paused_count)::int as paused, sum(b.new_subscriber)::int as new_subscriber,
      sum(b.cancelled)::int as cancelled, sum(b.cancelled_before)::int as cancelled_before,
      sum(b.churned)::int as churned, sum(b.churned_failed)::int as churned_failed,
      sum(b.expired)::int as expired,
      coalesce(
        array_agg(
          row(b.movement, b.active_count, trim_scale(b.active_amount))::active_change
          order by b.movement
        ) filter (where b.active_count <> 0 or b.active_amount <> 0), '{}'
      ) as actives
    from by_movement b group by b.customer_id, b.at
  ),
  states as (
    select m.*, sum(m.active) over past > 0 as is_subscriber,
      sum(m.active) over past <= 0 and sum(m.paused) over past > 0 as is_paused
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
      to_char(first_value(s.at) over past at time zone 'UTC', 'YYYY-MM') as cohort
    from states s
    window past as (partition by s.customer_id order by s.at)
  )
  select c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired) <> (0, 0, 0, 0, 0, 0, 0, 0);
end $$;
