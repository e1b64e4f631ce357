-- When subscriptions became worth more or less a month, so that a page can say what a price rise did. What subscriptions,
-- leavers and customers are worth, and the sums of what is present, are filled here, too, as they need the functions.

-- Writers wait until all is filled; readers do not.
lock table metric_shops in share row exclusive mode;

create table price_changes (
  shop_id bigint not null,
  subscription_id bigint not null,
  at timestamptz(3) not null,
  -- As it is now.
  plan_id bigint not null,
  -- What it was worth a month before and then, to 12 decimals.
  was numeric not null,
  became numeric not null,
  -- If it left and is not back: when, and what it was worth until then, as departures have it.
  left_at timestamptz(3),
  lost numeric,
  primary key (shop_id, subscription_id, at)
);

-- A row of price_changes, without the shop.
create type price_change as (
  subscription_id bigint, at timestamptz, plan_id bigint, was numeric, became numeric, left_at timestamptz, lost numeric
);

alter table metric_ledger drop constraint metric_ledger_grain_check;
alter table metric_ledger add constraint metric_ledger_grain_check
  check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all', 'present', 'price'));

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
    where d.shop_id = shop and d.value = 0 and s.shop_id = shop and s.subscription_id = d.subscription_id
      and p.shop_id = shop and p.plan_id = s.plan_id;
    insert into price_changes
    select shop, c.* from price_changes_of(shop, array(
      select subscription_id from subscriptions where shop_id = shop and past_values is not null order by subscription_id
    )) c
    on conflict do nothing;
  end loop;
end $$;

-- listPriceChanges and sumPriceChanges, from the index alone.
create index price_changes_by_time on price_changes (shop_id, at, subscription_id)
  include (plan_id, was, became, left_at, lost);

-- countByValue: those that were worth something else after an instant.
create index if not exists subscriptions_revalued on subscriptions (shop_id, last_value_change(past_values))
  where past_values is not null;

\ir serving.sql
