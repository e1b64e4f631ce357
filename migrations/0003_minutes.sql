-- The ledger also sums by minute, so that the ragged ends of a window are shorter than that, and its
-- cost hardly grows with the shop. And what keeps it costs whoever imports two thirds of what it did.

-- Nobody writes while this is built; whoever only reads feels nothing.
lock table shops in exclusive mode;

create function metric_minute(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 minute', at, timestamptz 'epoch')
$$;

-- Where a fact is summed. Those of history alone need only their day. Minutes are kept as long as hours.
create or replace function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when is_state(fact) then 'shift' else 'day' end, metric_day(at)
  union all
  select 'all', timestamptz '-infinity' where is_state(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact)
    and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

-- Sums that have become nothing are found by where they were just written, not by another search.
create or replace function add_to_ledger(facts metric_fact[]) returns void language plpgsql as $$
declare
  empty_rows tid[];
begin
  if cardinality(facts) = 0 then return; end if;
  with written as (
    insert into metric_ledger as l (shop_id, grain, bucket, fact, count, amount)
    select f.shop_id, b.grain, b.bucket, f.fact, sum(f.count), trim_scale(sum(f.amount))
    from unnest(facts) f
    join metric_shops m on m.shop_id = f.shop_id
    cross join metric_buckets(f.fact, f.at, m.hours_since) b
    group by f.shop_id, b.grain, b.bucket, f.fact
    having sum(f.count) <> 0 or sum(f.amount) <> 0
    order by f.shop_id, b.grain, b.bucket, f.fact
    on conflict (shop_id, grain, bucket, fact) do update
      set count = l.count + excluded.count, amount = trim_scale(l.amount + excluded.amount)
    returning ctid as place, count = 0 and amount = 0 as is_empty
  )
  select array_agg(place) filter (where is_empty) into empty_rows from written;
  if empty_rows is not null then
    delete from metric_ledger where ctid = any (empty_rows);
  end if;
end $$;

-- A subscription that is inserted together with events of its status leaves its customer to their
-- trigger: they cannot have been there before it, so they came in the same statement, and what is
-- worked out after them sees all of it.
create or replace function subscriptions_metrics_insert() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  shops bigint[] := array(select distinct shop_id from new_rows);
  shop bigint;
begin
  if cardinality(shops) = 0 then return null; end if;
  perform lock_shops(shops);
  perform add_to_ledger(array(
    select row(shop_id, 'renewal', metric_hour(next_billing_at), count(*), sum(current_price))::metric_fact
    from new_rows where status = 'active' and next_billing_at is not null
    group by shop_id, metric_hour(next_billing_at)
  ));
  foreach shop in array shops loop
    perform refresh_subscribers(shop, array(
      select distinct s.customer_id
      from new_rows s
      left join lateral (
        select true as is_there from status_events
        where shop_id = shop and subscription_id = s.subscription_id limit 1
      ) event on true
      where s.shop_id = shop and event.is_there is null
    ));
  end loop;
  return null;
end $$;

-- The triggers hand over sums by hour; from now on, by minute.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(oid) from pg_proc
    where pg_function_is_visible(oid)
      and proname ~ '_metrics_(insert|update|delete)$'
  loop
    execute replace(definition, 'metric_hour(', 'metric_minute(');
  end loop;
end $$;

-- The ledger is filled anew beside the one that is being read.
create table next_ledger (
  like metric_ledger including storage,
  check (grain in ('minute', 'hour', 'day', 'shift', 'all')),
  primary key (shop_id, grain, bucket, fact)
) with (fillfactor = 70);

insert into next_ledger (shop_id, grain, bucket, fact, count, amount)
select s.shop_id, sums.*
from shops s
cross join lateral metric_sums_of(s.shop_id) sums
-- As they will be read.
order by s.shop_id, sums.grain, sums.bucket, sums.fact;

-- Last, as nobody can read the metrics from here to the end.
drop table metric_ledger;
alter table next_ledger rename to metric_ledger;
alter index next_ledger_pkey rename to metric_ledger_pkey;
alter table metric_ledger rename constraint next_ledger_grain_check to metric_ledger_grain_check;
