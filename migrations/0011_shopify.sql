-- What Shopify tells of a shop by webhooks, and what it asks to be forgotten. Apart from the shops' data,
-- in a schema of its own: a webhook names a domain, by which the shop has to be found first. The jobs that
-- follow webhooks are in the schema `jobs`, which the job library keeps by itself.

create schema shopify;

create table shopify.shops (
  shop_id bigint primary key,
  -- In lower case.
  domain text not null unique,
  -- Null while the app is installed, as far as is known.
  uninstalled_at timestamptz(3),
  -- The event that said so, so that it counts once.
  uninstalled_by uuid
);

-- Customers who asked what is held of them. Nothing else of the request is kept.
create table shopify.data_requests (
  shop_id bigint not null,
  request_id uuid not null,
  customer_id bigint not null,
  received_at timestamptz(3) not null,
  primary key (shop_id, request_id)
);

-- Customers whose number must not come back: SHA-256 over shop and number.
create table redacted_customers (
  shop_id bigint not null references shops,
  customer_hash bytea not null check (octet_length(customer_hash) = 32),
  primary key (shop_id, customer_hash)
);
