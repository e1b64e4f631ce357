-- How shops are connected to platforms, and how their syncs are doing. In a schema of their own, which the
-- login that serves requests may not use.
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
  -- How many times the sync has failed since it last succeeded, and why, in one sentence.
  failures integer not null default 0,
  problem text,
  -- Since when the platform refuses the credentials, and which: it is asked again once they are others.
  refused_at timestamptz(3),
  refused_version text,
  primary key (shop_id, platform)
);
