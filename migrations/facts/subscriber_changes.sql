-- What happened to a customer as a subscriber, one row for each instant at which anything did.
--
-- * A customer is a subscriber while at least one subscription is active, and a paused subscriber while at least one is
--   paused and none is active. They are new when the first subscription ever begins; at equal times, of the least id.
-- * A subscription is live while it is active or paused. It churned if its status is cancelled or failed, and expired
--   if it is that: either counts when it was live for the last time. A subscription that came back did neither.
-- * Several changes of a subscription at one instant count as what they come to.
-- * Each change of an active subscription is a movement: it begins (new, or added if another of the customer came
--   before), comes back (resumed from paused, else reactivated), or ceases (paused, cancelled, expired, failed).
-- * A customer belongs to the cohort of the UTC month in which the first subscription began.

create type active_change as (fact text, count integer, amount numeric);

create table subscriber_changes (
  shop_id bigint not null,
  customer_id bigint not null,
  at timestamptz(3) not null,
  -- 1 if the customer's first subscription began.
  new_subscriber integer not null,
  -- 1 if the customer began to be a subscriber, or a paused subscriber, -1 if they ceased.
  subscriber integer not null,
  paused_subscriber integer not null,
  -- From here on numbers of subscriptions: that began to be live, less those that ceased.
  live integer not null,
  -- That became cancelled, and still are.
  cancelled integer not null,
  -- That were cancelled at the end of this UTC day, but are not any more.
  cancelled_before integer not null,
  -- That were live for the last time, and are now cancelled or failed, or expired.
  churned integer not null,
  expired integer not null,
  -- That began or ceased to be active, with the price, by billing interval and movement (`active month 1 paused`).
  active active_change[] not null,
  -- Of `churned`, those that left for a failed payment.
  churned_failed integer not null default 0,
  -- The customer's cohort, such as 2026-03.
  cohort text,
  primary key (shop_id, customer_id, at)
);

-- summariseMetrics, listMovementDays, listChurnDays: the less than a minute or a day at each end of a period.
create index subscriber_changes_by_time on subscriber_changes (shop_id, at);

-- A row of subscriber_changes, without the shop.
create type subscriber_change as (
  customer_id bigint, at timestamptz, new_subscriber integer, subscriber integer,
  paused_subscriber integer, live integer, cancelled integer, cancelled_before integer,
  churned integer, expired integer, active active_change[], churned_failed integer, cohort text
);

-- The changes of some customers, from their subscriptions.
create function subscriber_changes_of(shop bigint, customer_ids bigint[])
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
    from held h
    union all
    select h.customer_id, h.subscription_id, h.active, h.is_first, h.current_price, e.at, e.position,
      e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      order by position offset 0
    ) e
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
    from held h where h.status = 'cancelled' group by h.customer_id, h.status_since
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
    where h.status not in ('active', 'paused')
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

create function refresh_subscribers(shop bigint, customer_ids bigint[])
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
    paused_subscriber, live, cancelled, cancelled_before, churned, expired, active, churned_failed,
    cohort)
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
      s.cancelled_before, s.churned, s.expired, s.active, s.churned_failed, s.cohort)
    is distinct from (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live, c.cancelled,
      c.cancelled_before, c.churned, c.expired, c.active, c.churned_failed, c.cohort)
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active,
    churned_failed = excluded.churned_failed, cohort = excluded.cohort;
end $$;

-- `month 1`, of `active month 1 paused`.
create function interval_of_fact(fact text) returns text language sql immutable as $$
  select split_part(fact, ' ', 2) || ' ' || split_part(fact, ' ', 3)
$$;

-- The same with one row for each fact. A customer of a cohort is retained while a subscriber or a paused subscriber.
create view subscriber_facts as
select c.shop_id, c.at, v.fact, v.count, v.amount
from subscriber_changes c
cross join lateral (
  values ('new_subscriber', c.new_subscriber, 0), ('subscriber', c.subscriber, 0),
    ('paused_subscriber', c.paused_subscriber, 0), ('live', c.live, 0),
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
