-- Nobody writes while functions change; readers are not affected.
lock table shops in exclusive mode;

-- Rows of dunning_cases and failed_cycles, without the shop.
create type dunning_case as (
  subscription_id bigint, "position" integer, opened_at timestamptz, closed_at timestamptz, result text
);
create type failed_cycle as (
  subscription_id bigint, cycle text, failed_at timestamptz, is_last boolean
);

drop function dunning_cases_of(bigint, bigint[]);
drop function failed_cycles_of(bigint, bigint[]);

-- The dunning cases of some subscriptions: see 0012.
create function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns setof dunning_case language plpgsql stable as $$
begin
  return query
  with paid as (
    select p.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
    ) p
    where p.status <> 'failed' or p.failure_kind is distinct from 'inventory'
  ),
  changed as (
    select s.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) s
  ),
  events as (
    select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id,
      'recovered' as closes
    from paid p where p.status = 'succeeded'
    union all
    select p.subscription_id, p.processed_at, 0, p.payment_id, null
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
    select s.subscription_id, s.at, 1, s.position, 'lost'
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
    min(s.at) filter (where s.closes is not null), min(s.closes)
  from stretches s
  group by s.subscription_id, s.stretch
  having count(*) filter (where s.closes is null) > 0;
end $$;

create function failed_cycles_of(shop bigint, subscription_ids bigint[])
returns setof failed_cycle language plpgsql stable as $$
begin
  return query
  select p.subscription_id, p.cycle, max(p.processed_at),
    max(p.processed_at) = max(max(p.processed_at)) over (partition by p.subscription_id, p.cycle)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
  ) p
  where p.status = 'failed' and p.failure_kind is distinct from 'inventory'
  group by p.subscription_id, p.cycle, metric_day(p.processed_at);
end $$;

create or replace function refresh_dunning(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  held bigint[];
  touched bigint[];
  cases dunning_case[];
  outdated bigint[];
begin
  -- Most subscriptions never failed to pay: nothing more is read of them. One that is being deleted
  -- has no cases.
  select coalesce(array_agg(wanted.id) filter (where subscription.held), '{}'),
    coalesce(array_agg(wanted.id) filter (where subscription.held or cases.stored), '{}')
  into held, touched
  from unnest(subscription_ids) wanted (id)
  left join lateral (
    select true as failed from payments
    where shop_id = shop and subscription_id between wanted.id and wanted.id
      and status = 'failed' and failure_kind is distinct from 'inventory'
    order by subscription_id limit 1
  ) payment on true
  left join lateral (
    select true as held from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) subscription on payment.failed
  left join lateral (
    select true as stored from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position limit 1
  ) cases on true;
  if cardinality(touched) = 0 then return; end if;
  cases := array(select c from dunning_cases_of(shop, held) c);

  select array_agg(distinct d.subscription_id) into outdated
  from unnest(touched) wanted (id)
  cross join lateral (
    select subscription_id, position from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position offset 0
  ) d
  where (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  if outdated is not null then
    delete from dunning_cases d
    where d.shop_id = shop and d.subscription_id = any (outdated)
      and (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  end if;

  insert into dunning_cases (shop_id, subscription_id, position, opened_at, closed_at, result)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cases) c
  left join lateral (
    select * from dunning_cases
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
      and position = c.position
    order by subscription_id limit 1
  ) d on true
  where m.shop_id = shop
    and (d.opened_at, d.closed_at, d.result) is distinct from (c.opened_at, c.closed_at, c.result)
  on conflict (shop_id, subscription_id, position) do update set
    opened_at = excluded.opened_at, closed_at = excluded.closed_at, result = excluded.result;
end $$;

create or replace function refresh_failed_cycles(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  cycles failed_cycle[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  cycles := array(select c from failed_cycles_of(shop, subscription_ids) c);

  select array_agg(distinct f.subscription_id) into outdated
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select subscription_id, cycle, failed_at from failed_cycles
    where shop_id = shop and subscription_id = wanted.id order by cycle, failed_at offset 0
  ) f
  where (f.subscription_id, f.cycle, f.failed_at)
    not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  if outdated is not null then
    delete from failed_cycles f
    where f.shop_id = shop and f.subscription_id = any (outdated)
      and (f.subscription_id, f.cycle, f.failed_at)
        not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  end if;

  insert into failed_cycles (shop_id, subscription_id, cycle, failed_at, is_last)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cycles) c
  left join lateral (
    select * from failed_cycles
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
    order by subscription_id offset 0
  ) f on f.cycle = c.cycle and f.failed_at = c.failed_at
  where m.shop_id = shop and f.is_last is distinct from c.is_last
  on conflict (shop_id, subscription_id, cycle, failed_at) do update set is_last = excluded.is_last;
end $$;
