-- What was worth several things at one instant counts as the last of them, and what ended with its trial was worth nothing
-- until then. What subscriptions, leavers and customers are worth, the changes of prices and the sums of what is present
-- are filled here, too, as they need the functions.

-- Writers wait until all is filled; readers do not.
lock table metric_shops in share row exclusive mode;

\ir functions.sql

do $$
declare
  shop bigint;
begin
  for shop in select shop_id from metric_shops order by shop_id loop
    -- The rule of subscription_values_of.
    insert into subscription_values
    select shop, s.subscription_id, s.status, worth_until(null, s.current_price, s.other_intervals, null, null,
      s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
    from subscriptions s, plans p
    where s.shop_id = shop and p.shop_id = shop and p.plan_id = s.plan_id
    order by s.subscription_id
    on conflict do nothing;
    -- The rule of customer_values_in.
    insert into customer_values (shop_id, customer_id, since, value)
    select c.shop_id, c.customer_id, min(c.at),
      trim_scale(round(coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0), 12))
    from subscriber_changes c
    left join lateral unnest(c.active) a on true
    where c.shop_id = shop
    group by c.shop_id, c.customer_id
    on conflict do nothing;
    insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
    select shop, 'present', timestamptz '-infinity', f.fact, sum(f.count), trim_scale(sum(f.amount))
    from present_facts_of(shop) f
    group by f.fact
    on conflict do nothing;
    -- The rule of departures_of.
    update departures d
    set value = worth_until(d.left_at, s.current_price, s.other_intervals, s.past_values, s.trial_ends_at,
      s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
    from subscriptions s, plans p
    where d.shop_id = shop and (d.value = 0 or d.left_at = s.trial_ends_at) and s.shop_id = shop
      and s.subscription_id = d.subscription_id and p.shop_id = shop and p.plan_id = s.plan_id;
    insert into price_changes
    select shop, c.* from price_changes_of(shop, array(
      select subscription_id from subscriptions where shop_id = shop and past_values is not null order by subscription_id
    )) c
    on conflict do nothing;
    -- What was worth several things at one instant was worth the last of them. What follows from it, triggers compute.
    update subscriptions s
    set past_values = (
      select jsonb_agg(seen order by position)
      from (
        select seen, position, row_number() over (
            partition by seen -> 0, jsonb_typeof(seen -> 1) order by position desc
          ) as place
        from jsonb_array_elements(s.past_values) with ordinality s (seen, position)
      ) each
      where place = 1 or jsonb_typeof(seen -> 1) is distinct from 'object'
    )
    where s.shop_id = shop and s.past_values is not null and exists (
      select from jsonb_array_elements(s.past_values) seen where jsonb_typeof(seen -> 1) = 'object'
      group by seen -> 0 having count(*) > 1
    );
  end loop;
end $$;

-- countByValue: those that were worth something else after an instant.
create index if not exists subscriptions_revalued on subscriptions (shop_id, last_value_change(past_values))
  where past_values is not null;

-- Two that have the first departures of each UTC day, so that a page of a year reads no more than those.

-- listChurned by worth.
create index if not exists departures_by_value
  on departures (shop_id, metric_day(left_at), value, left_at, subscription_id);

-- listChurned by age.
create index if not exists departures_by_age
  on departures (shop_id, metric_day(left_at), age_days, left_at, subscription_id);

\ir serving.sql
