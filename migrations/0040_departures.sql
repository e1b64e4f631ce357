-- Who left, with what churn is told apart by, so that one scan of one index answers how many left, of which
-- plan, at what age and why, for any period (docs/decisions/0066-departures.md).

-- Nobody writes while the table is filled; readers are not affected.
lock table shops in exclusive mode;

create type departure as (
  subscription_id bigint, left_at timestamptz, plan_id bigint, cause text, age_days integer
);

-- The subscriptions that left and have not come back, expired ones aside.
create table departures (
  shop_id bigint not null,
  subscription_id bigint not null,
  left_at timestamptz(3) not null,
  plan_id bigint not null,
  cause text not null check (cause in ('cancelled', 'failed')),
  -- Whole days of 24 hours since the subscription began.
  age_days integer not null,
  primary key (shop_id, subscription_id)
);
-- listChurned, newest first, and listChurnGroups, from the index alone.
create index departures_by_time on departures (shop_id, left_at, subscription_id)
  include (plan_id, cause, age_days);

-- The departures of some subscriptions, from their records.
create function departures_of(shop bigint, subscription_ids bigint[])
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
  where s.status in ('cancelled', 'failed');
end $$;

-- An insert that begins with the shop's row of metric_shops stays where the shop is stored.
create function refresh_departures(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  departed departure[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  departed := array(select d from departures_of(shop, subscription_ids) d);

  select array_agg(stored.subscription_id) into outdated
  from (select unnest(subscription_ids) except select d.subscription_id from unnest(departed) d) live (id)
  cross join lateral (
    select subscription_id from departures
    where shop_id = shop and subscription_id between live.id and live.id
    order by subscription_id limit 1
  ) stored;
  if outdated is not null then
    delete from departures where shop_id = shop and subscription_id = any (outdated);
  end if;

  insert into departures (shop_id, subscription_id, left_at, plan_id, cause, age_days)
  select m.shop_id, d.*
  from metric_shops m
  cross join unnest(departed) d
  left join lateral (
    select * from departures
    where shop_id = shop and subscription_id between d.subscription_id and d.subscription_id
    order by subscription_id limit 1
  ) stored on true
  where m.shop_id = shop
    and (stored.left_at, stored.plan_id, stored.cause, stored.age_days)
      is distinct from (d.left_at, d.plan_id, d.cause, d.age_days)
  on conflict (shop_id, subscription_id) do update set
    left_at = excluded.left_at, plan_id = excluded.plan_id, cause = excluded.cause,
    age_days = excluded.age_days;
end $$;

-- Triggers of status events, and of subscriptions whose plan, beginning or status changes. A subscription that
-- is inserted gets its events next, and one that is deleted loses them.
do $do$
declare
  watched text;
  operation text;
begin
  for watched, operation in
    values ('status_events', 'insert'), ('status_events', 'update'), ('status_events', 'delete'),
      ('subscriptions', 'update')
  loop
    execute format(
      'create function %I() returns trigger language plpgsql as %L',
      watched || '_departures_' || operation,
      replace(replace($body$
        declare
          shops bigint[] := array(select distinct shop_id from changes order by shop_id);
          shop bigint;
          ids bigint[];
        begin
          foreach shop in array shops loop
            perform lock_shop(shop);
            ids := array(
              select distinct subscription_id from (
                select subscription_id from changes where shop_id = shop
                group by subscription_id, told having sum(sign) <> 0
              ) changed
            );
            perform refresh_departures(shop, ids);
          end loop;
          return null;
        end
      $body$,
      'told', case watched when 'subscriptions' then 'plan_id, created_at, status'
        else '"position", at, from_status, to_status' end),
      'from changes', 'from ' || case operation
        when 'insert' then '(select 1 as sign, * from new_rows) changes'
        when 'delete' then '(select -1 as sign, * from old_rows) changes'
        else '(select 1 as sign, * from new_rows union all select -1, * from old_rows) changes'
      end)
    );
    execute format(
      'create trigger departures_%s after %s on %I referencing %s for each statement execute function %I()',
      operation, operation, watched,
      case operation when 'insert' then 'new table as new_rows'
        when 'delete' then 'old table as old_rows'
        else 'old table as old_rows new table as new_rows' end,
      watched || '_departures_' || operation
    );
  end loop;
end $do$;

-- Everything of a shop anew, as 0018 made it, with its departures, and what 0038 keeps.
create or replace function rebuild_metrics(shop bigint) returns void language plpgsql as $$
declare
  slice constant integer := 10000;
  ids bigint[];
  last bigint := 0;
begin
  perform lock_shop(shop);
  delete from subscriber_changes where shop_id = shop;
  delete from failed_cycles where shop_id = shop;
  delete from departures where shop_id = shop;
  delete from superseded_facts where shop_id = shop;
  loop
    select array_agg(c.customer_id order by c.customer_id) into ids
    from (
      select customer_id from customers where shop_id = shop and customer_id > last
      order by customer_id limit slice
    ) c;
    exit when ids is null;
    perform refresh_subscribers(shop, ids);
    last := ids[cardinality(ids)];
  end loop;
  last := 0;
  loop
    select array_agg(s.subscription_id order by s.subscription_id) into ids
    from (
      select subscription_id from subscriptions where shop_id = shop and subscription_id > last
      order by subscription_id limit slice
    ) s;
    exit when ids is null;
    perform refresh_failed_cycles(shop, ids);
    perform refresh_dunning(shop, ids);
    perform refresh_departures(shop, ids);
    last := ids[cardinality(ids)];
  end loop;

  delete from metric_ledger where shop_id = shop;
  insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
  select shop, s.* from metric_sums_of(shop) s
  -- As they will be read.
  order by s.grain, s.bucket, s.fact;
end $$;

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
      perform refresh_departures(shop, ids);
      last := ids[cardinality(ids)];
    end loop;
  end loop;
end $$;
