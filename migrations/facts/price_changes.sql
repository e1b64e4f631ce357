-- When subscriptions became worth more or less a month while they were active and out of trial, by at least half a hundredth
-- of the currency, and whether they have left since: when, and what they were worth until then. Each is of a subscription;
-- `expansion` is of a customer. Departures must be as they are now.

create or replace function price_changes_of(shop bigint, subscription_ids bigint[])
returns setof price_change language plpgsql stable as $$
begin
  return query
  select s.subscription_id, changed.at, s.plan_id, changed.was, changed.became, d.left_at, d.value
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit || ' ' || interval_count as billed from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p
  cross join lateral (
    select v.since as at, lag(v.value) over (order by v.since) as was, v.value as became from (
      select since, trim_scale(round(worth_of(amounts, p.billed), 12)) as value from values_of(s.past_values)
    ) v
  ) changed
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at < changed.at
    order by e.position desc limit 1
  ) before on true
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at <= changed.at
    order by e.position desc limit 1
  ) since on true
  left join lateral (
    select left_at, value from departures
    where shop_id = shop and subscription_id between s.subscription_id and s.subscription_id
    order by subscription_id limit 1
  ) d on true
  where s.past_values is not null and s.status_since is not null and changed.at > s.created_at
    and (changed.at <= s.trial_ends_at) is not true and round(changed.became - changed.was, 2) <> 0
    and coalesce(before.to_status, 'active') = 'active' and coalesce(since.to_status, 'active') = 'active';
end $$;

create or replace function refresh_price_changes(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  changes price_change[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  changes := array(select c from price_changes_of(shop, subscription_ids) c);
  delete from price_changes
  where shop_id = shop and subscription_id = any (subscription_ids)
    and (subscription_id, at) not in (select c.subscription_id, c.at from unnest(changes) c);
  if cardinality(changes) = 0 then return; end if;
  insert into price_changes as stored (shop_id, subscription_id, at, plan_id, was, became, left_at, lost)
  select m.shop_id, c.* from metric_shops m cross join unnest(changes) c
  where m.shop_id = shop
  on conflict (shop_id, subscription_id, at) do update set plan_id = excluded.plan_id, was = excluded.was,
    became = excluded.became, left_at = excluded.left_at, lost = excluded.lost
    where (stored.plan_id, stored.was, stored.became, stored.left_at, stored.lost)
      is distinct from (excluded.plan_id, excluded.was, excluded.became, excluded.left_at, excluded.lost);
end $$;
