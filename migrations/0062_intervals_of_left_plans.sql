-- The value of a subscription on a plan that it has left is known with that plan, so that a corrected interval counts then,
-- too. In what was stored before, intervals stay what they were. What customers are worth is filled here, as it needs the
-- functions.

-- Writers wait until the values are filled; readers do not.
lock table metric_shops in share row exclusive mode;

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
