-- Who left: the subscriptions that were live, are now cancelled or failed, and have not come back; expiry is a planned
-- end. Each left when it was live for the last time: for a failed payment if it became failed then, else cancelled. The
-- row has all that churn is told apart by, so that one scan of one index answers how many left, of which plan, at what
-- age, why and worth how much a month, for any period (docs/decisions/0020-ledger.md).

-- The departures of some subscriptions, from their changes of status.
create or replace function departures_of(shop bigint, subscription_ids bigint[])
returns setof departure language plpgsql stable as $$
begin
  return query
  select s.subscription_id, leaving.at, s.plan_id,
    case when became.to_status = 'failed' then 'failed' else 'cancelled' end,
    floor(date_part('epoch', leaving.at - s.created_at) / 86400)::integer,
    worth_until(leaving.at, s.current_price, s.other_intervals, s.past_values, s.trial_ends_at,
      s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit, interval_count from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p
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

create or replace function refresh_departures(shop bigint, subscription_ids bigint[])
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

  insert into departures (shop_id, subscription_id, left_at, plan_id, cause, age_days, value)
  select m.shop_id, d.*
  from metric_shops m
  cross join unnest(departed) d
  left join lateral (
    select * from departures
    where shop_id = shop and subscription_id between d.subscription_id and d.subscription_id
    order by subscription_id limit 1
  ) stored on true
  where m.shop_id = shop
    and (stored.left_at, stored.plan_id, stored.cause, stored.age_days, stored.value)
      is distinct from (d.left_at, d.plan_id, d.cause, d.age_days, d.value)
  on conflict (shop_id, subscription_id) do update set
    left_at = excluded.left_at, plan_id = excluded.plan_id, cause = excluded.cause,
    age_days = excluded.age_days, value = excluded.value;
end $$;
