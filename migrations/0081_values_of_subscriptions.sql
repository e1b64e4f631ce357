-- What subscriptions are worth a month, so that they can be listed by it. What leavers were worth, what customers are
-- worth, and the sums of what is present, are filled here, too, as they need the functions.

-- Writers wait until all is filled; readers do not.
lock table metric_shops in share row exclusive mode;

create table subscription_values (
  shop_id bigint not null,
  subscription_id bigint not null,
  -- That of the subscription, so that one index has those of a status.
  status text not null,
  value numeric not null,
  primary key (shop_id, subscription_id)
);

do $$
begin
  if not exists (select from pg_attribute where attrelid = 'departure'::regclass and attname = 'value') then
    alter type departure add attribute value numeric;
  end if;
end $$;

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
    order by s.subscription_id;
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
  end loop;
end $$;

-- listSubscriptions, listSegmentSubscriptions and listCounted by value.
create index subscription_values_by_value on subscription_values (shop_id, status, value, subscription_id);

-- countByValue: those that were worth something else after an instant.
create index if not exists subscriptions_revalued on subscriptions (shop_id, last_value_change(past_values))
  where past_values is not null;

\ir serving.sql
