-- What customers are worth, so that lists of them can begin with the most valuable.

create table customer_values (
  shop_id bigint not null,
  customer_id bigint not null,
  -- When their first subscription began.
  since timestamptz(3) not null,
  -- A month, once all trials have ended, to 12 decimals.
  value numeric not null,
  primary key (shop_id, customer_id)
);

-- listCustomers by value.
create index customer_values_by_value on customer_values (shop_id, value, customer_id);
-- listCustomers by when their first subscription began.
create index customer_values_by_beginning on customer_values (shop_id, since, customer_id);
