-- Who made and ended a shop's keys. It outlives accounts: then nobody knows any more who it was.
create table owners.log (
  entry_id uuid primary key default gen_random_uuid(),
  shop_id bigint not null,
  at timestamptz(3) not null,
  -- Null for the command line.
  owner_id uuid,
  action text not null,
  key_id text not null,
  -- Of the key, at that time.
  key_name text not null
);

-- listLog
create index log_by_shop on owners.log (shop_id, at, entry_id);
