-- What subscriptions are worth a month, to 12 decimals, whatever their status: by their present lines, trials left aside.

create or replace function subscription_values_of(shop bigint, subscription_ids bigint[])
returns table (subscription_id bigint, status text, value numeric) language plpgsql stable as $$
begin
  return query
  select s.subscription_id, s.status, worth_until(null, s.current_price, s.other_intervals, null, null,
    s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions s
    where s.shop_id = shop and s.subscription_id between wanted.id and wanted.id
    order by s.subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit, interval_count from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p;
end $$;

create or replace function refresh_subscription_values(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  ids bigint[];
  statuses text[];
  amounts numeric[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  select array_agg(v.subscription_id), array_agg(v.status), array_agg(v.value) into ids, statuses, amounts
  from subscription_values_of(shop, subscription_ids) v;
  -- Each id is given once.
  if cardinality(ids) is distinct from cardinality(subscription_ids) then
    delete from subscription_values
    where shop_id = shop and subscription_id = any (subscription_ids) and subscription_id <> all (coalesce(ids, '{}'));
  end if;
  insert into subscription_values as stored (shop_id, subscription_id, status, value)
  select m.shop_id, v.* from metric_shops m cross join unnest(ids, statuses, amounts) v
  where m.shop_id = shop
  on conflict (shop_id, subscription_id) do update set status = excluded.status, value = excluded.value
    where (stored.status, stored.value) is distinct from (excluded.status, excluded.value);
end $$;
