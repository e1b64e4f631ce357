-- What explains a change, as fast in a shop of a million subscriptions. What customers are worth is filled here, as it
-- needs the functions.

-- Writers wait until all is filled; readers do not.
lock table metric_shops in share row exclusive mode;

-- countByValue: what became something else after an instant, and what it was told apart by, from the index alone.
create index subscriptions_by_change on subscriptions (shop_id, status_since)
  include (subscription_id, created_at, status, plan_id, own_interval_unit, own_interval_count, current_price,
    trial_ends_at, feed);
-- summariseMetrics, summariseKept, listMoved, listCounted: what changed in an interval; countByValue, from the index alone.
create index status_events_of_time on status_events (shop_id, at) include (subscription_id, from_status, to_status);
drop index status_events_by_time;
alter index status_events_of_time rename to status_events_by_time;

\ir functions.sql

do $$
declare
  shop bigint;
begin
  for shop in select shop_id from metric_shops order by shop_id loop
    -- The rule of customer_values_in.
    insert into customer_values (shop_id, customer_id, since, value)
    select c.shop_id, c.customer_id, min(c.at),
      trim_scale(round(coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0), 12))
    from subscriber_changes c
    left join lateral unnest(c.active) a on true
    where c.shop_id = shop
    group by c.shop_id, c.customer_id
    on conflict do nothing;
  end loop;
end $$;

-- countByValue: those that were worth something else after an instant.
create index if not exists subscriptions_revalued on subscriptions (shop_id, last_value_change(past_values))
  where past_values is not null;

-- Facts that only say what holds now.
alter table metric_ledger drop constraint metric_ledger_grain_check;
alter table metric_ledger add constraint metric_ledger_grain_check
  check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all', 'present'));

do $$
declare
  shop bigint;
begin
  for shop in select shop_id from metric_shops order by shop_id loop
    insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
    select shop, 'present', timestamptz '-infinity', f.fact, sum(f.count), trim_scale(sum(f.amount))
    from present_facts_of(shop) f
    group by f.fact;
  end loop;
end $$;
