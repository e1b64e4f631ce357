-- How shops are connected to platforms and how their syncs are doing, in a schema that the login that serves requests
-- may not use. A platform that keeps more than that has a schema of its own.
create schema platforms;

create table platforms.connections (
  shop_id bigint not null,
  platform text not null,
  -- The shop's name at the platform.
  account text not null,
  -- Encrypted by the service, with a key that the database does not have.
  credentials text not null,
  connected_at timestamptz(3) not null,
  -- Which process renews the credentials, and until when no other may.
  renewing_by uuid,
  renewing_until timestamptz(3),
  primary key (shop_id, platform),
  -- In this order, so that no plan takes it for the key.
  unique (account, platform)
);

create table platforms.syncs (
  shop_id bigint not null,
  platform text not null,
  -- When the shop is to be synced next.
  due_at timestamptz(3) not null,
  -- How often the sync has failed since it last succeeded, and why, in one sentence.
  failures integer not null default 0,
  problem text,
  -- Since when the platform refuses the credentials, and which: they are tried again once they have changed.
  refused_at timestamptz(3),
  refused_version text,
  primary key (shop_id, platform)
);

-- Customers whose id must not be stored again: SHA-256 of shop and id.
create table redacted_customers (
  shop_id bigint not null references shops,
  customer_hash bytea not null check (octet_length(customer_hash) = 32),
  primary key (shop_id, customer_hash)
);

-- Shopify: how far a shop is synced. One row a shop.
create table shopify_syncs (
  shop_id bigint not null references shops,
  -- Which of Shopify's shops it is.
  domain text not null,
  -- What changed before this time, by Shopify's clock, is stored; null until the first complete result is.
  watermark timestamptz(3),
  -- When the last bulk queries whose complete results are stored began, by the clock of the process that began them.
  reconciled_at timestamptz(3),
  -- Bulk operations that have begun and whose results are not stored yet, for the process that continues.
  plans_operation text,
  contracts_operation text,
  operations_begun_at timestamptz(3),
  primary key (shop_id)
);

-- Shopify: what its webhooks need. A webhook names a domain, by which the shop has to be found first. The jobs that
-- follow webhooks are in the schema `jobs`, which the job library keeps by itself.
create schema shopify;

create table shopify.shops (
  shop_id bigint primary key,
  -- In lower case.
  domain text not null unique,
  -- Null while the app is installed, as far as is known.
  uninstalled_at timestamptz(3),
  -- The event that said so, so that it counts once.
  uninstalled_by uuid,
  -- When an operator last said that the app is back. A signed body from before then cannot uninstall it again.
  reinstalled_at timestamptz(3)
);

-- Customers who asked what is held of them. Nothing else of the request is kept.
create table shopify.data_requests (
  shop_id bigint not null,
  request_id uuid not null,
  customer_id bigint not null,
  received_at timestamptz(3) not null,
  primary key (shop_id, request_id)
);

-- Destructive webhooks that were handled, so that a signed body that is sent again destroys nothing twice. The id is
-- made from the body alone. A row has no shop, and outlives it: otherwise a body from before the shop was deleted would
-- count again once the shop is back.
create table shopify.handled_events (
  event_id uuid primary key,
  handled_at timestamptz(3) not null
);
