-- What customers are worth, so that lists of them can begin with the most valuable.

-- Writers wait until the values are filled; readers do not.
lock table metric_shops in share row exclusive mode;

create table customer_values (
  shop_id bigint not null,
  customer_id bigint not null,
  -- When their first subscription began.
  since timestamptz(3) not null,
  -- A month, once all trials have ended, to 12 decimals.
  value numeric not null,
  primary key (shop_id, customer_id)
);

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
    group by c.shop_id, c.customer_id;
  end loop;
end $$;

-- listCustomers by value.
create index customer_values_by_value on customer_values (shop_id, value, customer_id);
-- listCustomers by when their first subscription began.
create index customer_values_by_beginning on customer_values (shop_id, since, customer_id);
-- countByValue: those that were worth something else after an instant.
create index subscriptions_revalued on subscriptions (shop_id, last_value_change(past_values))
  where past_values is not null;
