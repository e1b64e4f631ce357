-- What keeps the metrics, at two thirds of its cost for whoever imports.

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
