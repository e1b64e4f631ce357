-- This and the next three migrations have what keeps the metrics name its shop in each statement, write in
-- statements of their own (no insert inside `with`), and find rows by key alone. So the same SQL runs on one
-- server, on the embedded database, and on a cluster that distributes its tables by shop.

-- Each look-up asks for the order of the one index that must serve it, in a form that equality would not
-- have: so the plan is right for any statistics, even those of an empty table
-- (docs/decisions/0032-plans.md).

-- Nobody writes while functions change; readers are not affected.
lock table shops in exclusive mode;

-- A row of subscriber_changes, without the shop.
create type subscriber_change as (
  customer_id bigint, at timestamptz, new_subscriber integer, subscriber integer,
  paused_subscriber integer, live integer, cancelled integer, cancelled_before integer,
  churned integer, expired integer, active active_change[]
);

drop function subscriber_changes_of(bigint, bigint[]);

-- The changes of some customers, from their subscriptions.
create function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_change language plpgsql stable as $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at,
      s.current_price, 'active ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as active
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
  steps as materialized (
    select h.customer_id, h.subscription_id, h.active, h.current_price, h.created_at as at,
      -1 as position, '' as from_status, 'active' as to_status
    from held h
    union all
    select h.customer_id, h.subscription_id, h.active, h.current_price, e.at, e.position,
      e.from_status, e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      order by position offset 0
    ) e
  ),
  moves as (
    select s.customer_id, s.at, s.active,
      (s.to_status = 'active')::int - (s.from_status = 'active')::int as is_active,
      (s.to_status = 'paused')::int - (s.from_status = 'paused')::int as is_paused,
      s.current_price, s.to_status,
      lead(s.at) over (partition by s.subscription_id order by s.position) as until
    from steps s
  ),
  by_interval as (
    select m.customer_id, m.at, m.active, sum(m.is_active)::int as active_count,
      sum(m.is_active * m.current_price) as active_amount, sum(m.is_paused)::int as paused_count,
      0 as new_subscriber, 0 as cancelled,
      count(*) filter (where m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at))
        ::int as cancelled_before,
      0 as churned, 0 as expired
    from moves m group by m.customer_id, m.at, m.active
    union all
    select h.customer_id, min(h.created_at), '', 0, 0, 0, 1, 0, 0, 0, 0
    from held h group by h.customer_id
    union all
    select h.customer_id, h.status_since, '', 0, 0, 0, 0, count(*)::int, 0, 0, 0
    from held h where h.status = 'cancelled' group by h.customer_id, h.status_since
    union all
    select h.customer_id, coalesce(e.at, h.status_since), '', 0, 0, 0, 0, 0, 0,
      (h.status <> 'expired')::int, (h.status = 'expired')::int
    from held h
    left join lateral (
      select e.at from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id
        and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
      order by e.position desc limit 1
    ) e on true
    where h.status not in ('active', 'paused')
  ),
  moments as (
    select b.customer_id, b.at, sum(b.active_count)::int as active,
      sum(b.paused_count)::int as paused, sum(b.new_subscriber)::int as new_subscriber,
      sum(b.cancelled)::int as cancelled, sum(b.cancelled_before)::int as cancelled_before,
      sum(b.churned)::int as churned, sum(b.expired)::int as expired,
      coalesce(
        array_agg(
          row(b.active, b.active_count, trim_scale(b.active_amount))::active_change
          order by b.active
        ) filter (where b.active_count <> 0 or b.active_amount <> 0), '{}'
      ) as actives
    from by_interval b group by b.customer_id, b.at
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
      s.active + s.paused as live, s.cancelled, s.cancelled_before, s.churned, s.expired, s.actives
    from states s
    window past as (partition by s.customer_id order by s.at)
  )
  select c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired) <> (0, 0, 0, 0, 0, 0, 0, 0);
end $$;

-- An insert that begins with the shop's row of metric_shops stays where the shop is stored.
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
  end if;

  insert into subscriber_changes (shop_id, customer_id, at, new_subscriber, subscriber,
    paused_subscriber, live, cancelled, cancelled_before, churned, expired, active)
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
      s.cancelled_before, s.churned, s.expired, s.active)
    is distinct from (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live, c.cancelled,
      c.cancelled_before, c.churned, c.expired, c.active)
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active;
end $$;
