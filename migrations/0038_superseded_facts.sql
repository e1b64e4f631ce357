-- What the ledger does not say of the past: it counts a subscription by its final status, and a billing cycle at
-- its last failure. Here is what held until something followed, so that a period that ended long ago is found as
-- fast as the current one (docs/decisions/0063-periods.md).

-- Nobody writes while the table is filled and functions change; readers are not affected.
lock table shops in exclusive mode;

create type superseded_fact as (
  subscription_id bigint, fact text, cycle text, until timestamptz, since timestamptz, began_at timestamptz,
  left_as text, final text, reach smallint
);

create table superseded_facts (
  shop_id bigint not null,
  subscription_id bigint not null,
  -- `cancelled`, `expired` or `failed`: the subscription was that from `since` to `until`.
  -- `cycle_failed`: its cycle failed at `until`, and before that at `since`.
  fact text not null,
  -- '' for a status.
  cycle text not null,
  until timestamptz(3) not null,
  since timestamptz(3) not null,
  -- Of a status: when the subscription had ceased to be live. Of a cycle: its first failure on the day of `until`.
  began_at timestamptz(3) not null,
  -- The status to which it left live; '' for a cycle.
  left_as text not null,
  -- The last status of a subscription that never became live again, else ''.
  final text not null,
  -- A number of days, of a few, that is not exceeded from `since` to `until`.
  reach smallint not null,
  primary key (shop_id, subscription_id, fact, cycle, until)
);

-- summariseMetrics, listDays, listChurnDays: what contains an instant, for each reach from the index alone.
create index superseded_facts_by_reach on superseded_facts (shop_id, reach, until)
  include (since, subscription_id, fact, cycle, began_at, left_as, final);

-- Each number of days is found in an interval of that length: so at least a quarter of what is read is needed,
-- as far as facts are spread evenly.
create function superseded_reach(since timestamptz, until timestamptz) returns smallint
language sql immutable as $$
  select coalesce(min(days), 32767)::smallint from unnest('{1,4,16,64,256,1024}'::integer[]) days
  where until - since <= days * interval '24 hours'
$$;

-- The superseded facts of some subscriptions, from their records.
create function superseded_facts_of(shop bigint, subscription_ids bigint[])
returns setof superseded_fact language plpgsql stable as $$
begin
  return query
  with changes as (
    select e.subscription_id, e.position, e.at, e.to_status,
      e.to_status in ('active', 'paused') as is_live,
      e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused') as leaves
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) e
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

-- An insert that begins with the shop's row of metric_shops stays where the shop is stored.
create function refresh_superseded_facts(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  facts superseded_fact[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  facts := array(select f from superseded_facts_of(shop, subscription_ids) f);

  select array_agg(distinct s.subscription_id) into outdated
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select subscription_id, fact, cycle, until from superseded_facts
    where shop_id = shop and subscription_id = wanted.id order by fact, cycle, until offset 0
  ) s
  where (s.subscription_id, s.fact, s.cycle, s.until)
    not in (select f.subscription_id, f.fact, f.cycle, f.until from unnest(facts) f);
  if outdated is not null then
    delete from superseded_facts s
    where s.shop_id = shop and s.subscription_id = any (outdated)
      and (s.subscription_id, s.fact, s.cycle, s.until)
        not in (select f.subscription_id, f.fact, f.cycle, f.until from unnest(facts) f);
  end if;

  insert into superseded_facts (shop_id, subscription_id, fact, cycle, until, since, began_at, left_as,
    final, reach)
  select m.shop_id, f.*
  from metric_shops m
  cross join unnest(facts) f
  left join lateral (
    select * from superseded_facts
    where shop_id = shop and subscription_id between f.subscription_id and f.subscription_id
      and fact = f.fact and cycle = f.cycle and until = f.until
    order by subscription_id limit 1
  ) s on true
  where m.shop_id = shop
    and (s.since, s.began_at, s.left_as, s.final, s.reach)
      is distinct from (f.since, f.began_at, f.left_as, f.final, f.reach)
  on conflict (shop_id, subscription_id, fact, cycle, until) do update set
    since = excluded.since, began_at = excluded.began_at, left_as = excluded.left_as,
    final = excluded.final, reach = excluded.reach;
end $$;

-- As 0017 made it; what failed again superseded what had failed.
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

  perform refresh_superseded_facts(shop, subscription_ids);
end $$;

-- The triggers of status events, as 0019 made them, from one body in which `changes` stands for the rows that came
-- and went.
do $do$
declare
  operation text;
  changes text;
begin
  foreach operation in array array['insert', 'update', 'delete'] loop
    changes := case operation
      when 'insert' then 'new_rows'
      when 'delete' then 'old_rows'
      else '(select * from new_rows union all select * from old_rows)'
    end;
    execute format(
      'create or replace function %I() returns trigger language plpgsql as %L',
      'status_events_metrics_' || operation,
      replace($body$
        declare
          shops bigint[] := array(select distinct shop_id from changes order by shop_id);
          shop bigint;
          ids bigint[];
          customer_ids bigint[];
        begin
          foreach shop in array shops loop
            perform lock_shop(shop);
            ids := array(select distinct subscription_id from changes where shop_id = shop);
            select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
            from unnest(ids) touched (id)
            cross join lateral (
              select customer_id from subscriptions
              where shop_id = shop and subscription_id between touched.id and touched.id
              order by subscription_id limit 1
            ) s;
            perform refresh_subscribers(shop, customer_ids);
            perform refresh_dunning(shop, ids);
            perform refresh_superseded_facts(shop, ids);
          end loop;
          return null;
        end
      $body$, 'from changes', 'from ' || changes || ' changes')
    );
  end loop;
end $do$;

-- A few thousand subscriptions at a time, as lists are kept in memory.
do $$
declare
  slice constant integer := 10000;
  shop bigint;
  ids bigint[];
  last bigint;
begin
  for shop in select shop_id from shops order by shop_id loop
    last := 0;
    loop
      select array_agg(s.subscription_id order by s.subscription_id) into ids
      from (
        select subscription_id from subscriptions where shop_id = shop and subscription_id > last
        order by subscription_id limit slice
      ) s;
      exit when ids is null;
      perform refresh_superseded_facts(shop, ids);
      last := ids[cardinality(ids)];
    end loop;
  end loop;
end $$;
