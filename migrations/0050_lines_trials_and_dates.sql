-- Lines with an interval of their own, trials, and changes of status whose date nobody knows.

alter table subscriptions
  -- Null if nobody knows when it became what `status` says. Then status_events has only what came before, and no fact
  -- that needs the time is derived from the subscription.
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

-- listMoved: what began to have a value when its trial ended.
create index subscriptions_by_trial_end on subscriptions (shop_id, trial_ends_at) where trial_ends_at is not null;
-- summariseKept: those whose value is not simply their price.
create index subscriptions_saved_otherwise on subscriptions (shop_id, saved_at)
  where status = 'active' and saved_at is not null and (other_intervals is not null or trial_ends_at is not null);

alter table subscriber_changes
  -- Numbers of subscriptions that began to be active in their trial, less those that ceased, and their prices.
  add column trial integer not null default 0,
  add column trial_amount numeric not null default 0,
  -- 1 if the customer began to have a paused subscription of which nobody knows since when, and neither an active one
  -- nor another paused one; -1 if that ceased.
  add column paused_undated integer not null default 0;

alter type subscriber_change
  add attribute trial integer, add attribute trial_amount numeric, add attribute paused_undated integer;

-- The price of a subscription without its lines that are billed at other intervals than this one. Without such lines it
-- costs nothing, because then it becomes part of the statement.
create function price_apart(price numeric, other_intervals jsonb, billed text) returns numeric
language sql immutable as $$
  select price - coalesce(sum(value::numeric), 0) from jsonb_each_text(other_intervals) where key <> billed
$$;

create function price_at(price numeric, other_intervals jsonb, billed text) returns numeric
language sql immutable as $$
  select case when other_intervals is null then price else price_apart(price, other_intervals, billed) end
$$;

-- What a subscription costs by billing interval (`month 1`): its own, which counts it, and those of its lines.
create function prices_by_interval(price numeric, other_intervals jsonb, billed text)
returns table (billed_at text, price_then numeric, subscriptions integer) language sql immutable as $$
  select $3, price_at($1, $2, ''), 1
  union all
  select key, value::numeric, 0 from jsonb_each_text($2)
$$;

create or replace function is_state(fact text) returns boolean language sql immutable as $$
  select fact in ('subscriber', 'paused_subscriber', 'paused_undated', 'live', 'trial', 'dunning_open')
    or fact like 'active %'
$$;

-- As in facts/subscriber_changes.sql, and:
--
-- * A subscription that is active in its trial is live, and its customer a subscriber, but it is no movement: it begins
--   (new or added) at the first instant at which it is active and out of trial.
-- * Of one whose status nobody knows since when, only that it began counts; if it is paused, also that.

create or replace function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_change language plpgsql stable as $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at, s.trial_ends_at,
      s.current_price, s.other_intervals, price_at(s.current_price, s.other_intervals, '') as own_price,
      'active ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
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
    select h.*, h.trial_ends_at, 32767, 'active'
    from held h
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id and e.at <= h.trial_ends_at
      order by e.position desc limit 1
    ) became on true
    where h.status_since is not null and h.trial_ends_at > h.created_at
      and coalesce(became.to_status, 'active') = 'active'
  ),
  dated as (
    select s.*,
      case when s.to_status = 'active' and s.at < s.trial_ends_at then 'trial' else s.to_status end as phase,
      lead(s.at) over (partition by s.subscription_id order by s.at, s.position) as until
    from steps s
  ),
  -- Of several changes of a subscription at one instant, only what they come to.
  netted as (
    select d.*, lag(d.phase, 1, '') over past as was,
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
        when n.phase <> 'active' then n.phase
        when n.was = '' or n.trial_ends_at is not null and n.is_first_time
          then case when n.is_first then 'new' else 'added' end
        when n.was = 'paused' then 'resumed'
        else 'reactivated'
      end as movement
    from netted n
  ),
  parts as (
    select m.customer_id, m.at, m.active || m.movement as fact, m.is_active, m.is_active * m.own_price as amount,
      m.is_trial, m.is_trial * m.current_price as trial_amount, m.is_paused,
      (m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at)) is true as is_cancelled_before
    from moves m
    union all
    select m.customer_id, m.at, 'active ' || o.key || ' ' || m.movement, 0, m.is_active * o.value::numeric, 0, 0,
      0, false
    from moves m cross join lateral jsonb_each_text(m.other_intervals) o
    where m.is_active <> 0
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
end $$;

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

create or replace function departures_of(shop bigint, subscription_ids bigint[])
returns setof departure language plpgsql stable as $$
begin
  return query
  select s.subscription_id, leaving.at, s.plan_id,
    case when became.to_status = 'failed' then 'failed' else 'cancelled' end,
    floor(date_part('epoch', leaving.at - s.created_at) / 86400)::integer
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) s
  cross join lateral (
    select e.at from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id
      and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
    order by e.position desc limit 1
  ) leaving
  cross join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at = leaving.at
    order by e.position desc limit 1
  ) became
  where s.status in ('cancelled', 'failed') and s.status_since is not null;
end $$;

create or replace function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns setof dunning_case language plpgsql stable as $$
begin
  return query
  with known as materialized (
    select s.subscription_id as id
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    where s.status_since is not null
  ),
  paid as (
    select p.*
    from known wanted
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
    ) p
    where p.status <> 'failed' or p.failure_kind is distinct from 'inventory'
  ),
  changed as (
    select s.*
    from known wanted
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) s
  ),
  events as (
    select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id,
      'recovered' as closes, null::numeric as amount, null as code
    from paid p where p.status = 'succeeded'
    union all
    select p.subscription_id, p.processed_at, 0, p.payment_id, null, p.amount, p.failure_code
    from paid p
    left join lateral (
      select s.to_status
      from (
        select * from status_events
        where shop_id = shop and subscription_id = p.subscription_id
        order by position desc offset 0
      ) s
      where s.at < p.processed_at limit 1
    ) by_then on true
    where p.status = 'failed'
      and (by_then.to_status in ('cancelled', 'expired', 'failed')) is not true
    union all
    select s.subscription_id, s.at, 1, s.position, 'lost', null, null
    from changed s where s.to_status in ('cancelled', 'expired', 'failed')
  ),
  stretches as (
    select e.*, count(e.closes) over (
        partition by e.subscription_id order by e.at, e.rank, e.id
        rows between unbounded preceding and 1 preceding
      ) as stretch
    from events e
  )
  select s.subscription_id, s.stretch::integer, min(s.at) filter (where s.closes is null),
    min(s.at) filter (where s.closes is not null), min(s.closes),
    trim_scale((array_agg(s.amount order by s.at, s.id) filter (where s.closes is null))[1]),
    (array_agg(s.code order by s.at desc, s.id desc) filter (where s.closes is null))[1],
    (count(*) filter (where s.closes is null))::integer
  from stretches s
  group by s.subscription_id, s.stretch
  having count(*) filter (where s.closes is null) > 0;
end $$;

create or replace function superseded_facts_of(shop bigint, subscription_ids bigint[])
returns setof superseded_fact language plpgsql stable as $$
begin
  return query
  with changes as (
    select e.subscription_id, e.position, e.at, e.to_status,
      e.to_status in ('active', 'paused') as is_live,
      e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused') as leaves
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) e
    where s.status_since is not null
  ),
  statuses as (
    select c.*, lead(c.at) over past as until, max(c.at) filter (where c.leaves) over past as left_at,
      max(c.position) filter (where c.is_live) over whole as last_live,
      last_value(c.to_status) over whole as last_status
    from changes c
    window past as (partition by c.subscription_id order by c.position),
      whole as (partition by c.subscription_id order by c.position
        rows between unbounded preceding and unbounded following)
  ),
  failures as (
    select p.subscription_id, p.cycle, min(p.processed_at) as first, max(p.processed_at) as last,
      lag(max(p.processed_at)) over (
        partition by p.subscription_id, p.cycle order by max(p.processed_at)
      ) as previous
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
        and status = 'failed' and failure_kind is distinct from 'inventory'
      order by subscription_id, cycle, processed_at offset 0
    ) p
    group by p.subscription_id, p.cycle, metric_day(p.processed_at)
  )
  -- Several changes of a subscription at one instant leave only the last of their statuses.
  select s.subscription_id, s.to_status, '', s.until, s.at, coalesce(s.left_at, s.at),
    coalesce(became.to_status, s.to_status),
    case when s.last_live > s.position then '' else s.last_status end,
    superseded_reach(s.at, s.until)
  from statuses s
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at = s.left_at
    order by e.position desc limit 1
  ) became on true
  where not s.is_live and s.until > s.at
  union all
  select f.subscription_id, 'cycle_failed', f.cycle, f.last, coalesce(f.previous, f.first), f.first, '', '',
    superseded_reach(coalesce(f.previous, f.first), f.last)
  from failures f where coalesce(f.previous, f.first) < f.last;
end $$;

create or replace function metric_sums_of(shop bigint)
returns table (grain text, bucket timestamptz, fact text, count bigint, amount numeric)
language plpgsql stable as $$
begin
  return query
  with facts as (
    select 'paid' as fact, p.processed_at as at, 1::bigint as count, p.amount
    from payments p where p.shop_id = shop and p.status = 'succeeded'
    union all
    select 'refunded', r.refunded_at, 1, r.amount from refunds r where r.shop_id = shop
    union all
    select v.fact, s.created_at, 1, 0
    from cancellation_sessions s
    cross join lateral (values ('session_' || coalesce(s.outcome, 'open')),
      (session_fact(s.outcome, s.detected_reason, s.offer_type))) v (fact)
    where s.shop_id = shop
    union all
    select v.fact, s.next_billing_at, 1, price_at(s.current_price, s.other_intervals, billed.at)
    from subscriptions s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
    cross join lateral (values (coalesce(s.own_interval_unit, p.interval_unit)
      || ' ' || coalesce(s.own_interval_count, p.interval_count))) billed (at)
    cross join lateral (values ('renewal'), ('due ' || billed.at)) v (fact)
    where s.shop_id = shop and s.status = 'active' and s.next_billing_at is not null
    union all
    select f.fact, f.at, f.count::bigint, f.amount from subscriber_facts f where f.shop_id = shop
    union all
    select case when c.is_last then 'cycle_failed' else 'cycle_failed_before' end, c.failed_at, 1, 0
    from failed_cycles c where c.shop_id = shop
    union all
    select v.fact, v.at, v.count, 0
    from dunning_cases d
    cross join lateral (values
      ('dunning_open', d.opened_at, 1), ('dunning_open', d.closed_at, -1),
      ('dunning_' || d.result, d.closed_at, 1)
    ) v (fact, at, count)
    where d.shop_id = shop and v.at is not null
  )
  select b.grain, b.bucket, f.fact, sum(f.count)::bigint, trim_scale(sum(f.amount))
  from metric_shops m
  cross join facts f
  cross join metric_buckets(f.fact, f.at, m.hours_since) b
  where m.shop_id = shop
  group by b.grain, b.bucket, f.fact
  having sum(f.count) <> 0 or sum(f.amount) <> 0;
end $$;

-- Replaces the functions of a table's triggers, as triggers.sql creates them.
create procedure pg_temp.rewatch(
  watched text,
  body text,
  variables text default 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];',
  purpose text default 'metrics',
  operations text[] default '{insert,update,delete}'
) language plpgsql as $watch$
declare
  signed constant boolean := body like '%sign%';
  operation text;
  rows text;
  name text;
begin
  foreach operation in array operations loop
    rows := case
      when operation = 'insert' and signed then '(select 1 as sign, * from new_rows) changes'
      when operation = 'delete' and signed then '(select -1 as sign, * from old_rows) changes'
      when signed then '(select 1 as sign, * from new_rows union all select -1, * from old_rows) changes'
      when operation = 'insert' then 'new_rows changes'
      when operation = 'delete' then 'old_rows changes'
      else '(select * from new_rows union all select * from old_rows) changes'
    end;
    name := watched || '_' || purpose || '_' || operation;
    execute format('create or replace function %I() returns trigger language plpgsql as %L', name, replace(
      'declare
        shops bigint[] := array(select distinct shop_id from changes order by shop_id);
        shop bigint;
        ' || variables || '
      begin
        foreach shop in array shops loop
          perform lock_shop(shop);'
          || case when variables like '%kept_since%' then '
          select hours_since into kept_since from metric_shops where shop_id = shop;' else '' end
          || body || '
        end loop;
        return null;
      end',
      'from changes', 'from ' || rows
    ));
  end loop;
end $watch$;

-- Renewals are summed as a whole, and by billing interval (`due month 1`). Plans are looked up for sums, not for changed
-- rows, which a cluster cannot read beside a table.
--
-- A change of what the last statement does not name leaves all of a subscriber's facts as they were. A subscription that
-- is inserted with a history leaves its customer to the trigger of status events, which are written next, unless it
-- may have none because nobody knows when they were.
call pg_temp.rewatch('subscriptions', $body$
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(other),
    array_agg(at), array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, others, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, null as other,
      metric_floor(next_billing_at, kept_since) as at, sum(sign) as count, sum(sign * current_price) as amount
    from changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
    union all
    -- Of other lines, which are not billed then.
    select plan_id, own_interval_unit, own_interval_count, o.key,
      metric_floor(next_billing_at, kept_since), 0, -sum(sign * o.value::numeric)
    from changes cross join lateral jsonb_each_text(other_intervals) o
    where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, o.key, metric_floor(next_billing_at, kept_since)
  ) renewing;
  facts := array(
    select row(v.fact, c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, others, times, counts, amounts)
      c (plan_id, unit, cycles, other, at, count, amount)
    cross join lateral (
      select coalesce(c.unit, interval_unit) || ' ' || coalesce(c.cycles, interval_count) as billed from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || p.billed)) v (fact)
    where c.other is distinct from p.billed
    group by v.fact, c.at
    having sum(c.count) <> 0 or sum(c.amount) <> 0
  );
  perform add_to_ledger(shop, facts);
  if tg_op = 'INSERT' then
    ids := array(select subscription_id from changes where shop_id = shop);
    perform refresh_saved(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at or status_since is null)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at, trial_ends_at, other_intervals
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);
$body$, 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; others text[]; times timestamptz[]; counts bigint[]; amounts numeric[];');

call pg_temp.rewatch('subscriptions', $body$
  ids := array(
    select distinct subscription_id from (
      select subscription_id from changes where shop_id = shop
      group by subscription_id, plan_id, created_at, status, status_since is null having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  -- Nothing else follows from one whose status nobody knows since when.
  ids := array(
    select distinct subscription_id from (
      select subscription_id from changes where shop_id = shop
      group by subscription_id, status_since is null having sum(sign) <> 0
    ) changed
  );
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);
$body$, 'ids bigint[];', 'departures', '{update}');

call pg_temp.rewatch('plans', $body$
  ids := array(
    select plan_id from changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row(v.fact, metric_floor(s.next_billing_at, kept_since), sum(c.sign), sum(c.sign * s.price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at,
        price_at(current_price, other_intervals, c.unit || ' ' || c.cycles) as price
      from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    cross join lateral (values ('renewal'), ('due ' || c.unit || ' ' || c.cycles)) v (fact)
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by v.fact, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and own_interval_unit is null
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
$body$, 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; times timestamptz[]; counts bigint[]; amounts numeric[];');

call pg_temp.rewatch('subscriber_changes', $body$
  -- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0
      from changes where paused_subscriber <> 0
      union all
      select shop_id, 'paused_undated', at, sign * paused_undated, 0
      from changes where paused_undated <> 0
      union all
      select shop_id, 'trial', at, sign * trial, sign * trial_amount
      from changes where trial <> 0 or trial_amount <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0
      from changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from changes where churned <> 0
      union all
      select shop_id, 'churned_failed', at, sign * churned_failed, 0
      from changes where churned_failed <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from changes cross join lateral unnest(active) a where active <> '{}'
      union all
      select shop_id, 'cohort ' || cohort || ' customers', metric_month(at),
        sign * new_subscriber, 0
      from changes where new_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' retained', metric_month(at),
        sign * (subscriber + paused_subscriber), 0
      from changes where subscriber + paused_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
        sign * a.count, sign * a.amount
      from changes cross join lateral unnest(active) a
      where active <> '{}' and cohort is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);
$body$, 'kept_since timestamptz; facts ledger_fact[];');

drop procedure pg_temp.rewatch;
