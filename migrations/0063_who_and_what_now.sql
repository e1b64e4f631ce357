-- What owners do about customers: where their own system shows them, and whom they have contacted.

-- Of the page about a customer in the owner's own system: an address with {id} in it.
alter table shops add column customer_link text check (octet_length(customer_link) between 1 and 500);

-- Failed payments about which an owner has contacted the customer. By when the case opened, because its position can
-- change when older records arrive. Without a foreign key, which Citus does not add to a table before it distributes it.
create table contacted_cases (
  shop_id bigint not null,
  subscription_id bigint not null,
  opened_at timestamptz(3) not null,
  contacted_at timestamptz(3) not null,
  -- The owner.
  contacted_by text not null,
  -- listOpenCases.
  primary key (shop_id, subscription_id, opened_at)
);
