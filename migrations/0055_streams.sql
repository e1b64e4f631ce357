-- Several shops may have data in one database of a merchant's, so an account may be connected more than once.
alter table platforms.connections drop constraint connections_account_platform_key;
alter table platforms.connections add column is_shared boolean not null default false;
-- upsertConnection: of a platform where each shop has an account of its own.
create unique index connections_account_platform_key on platforms.connections (account, platform) where not is_shared;

-- How far the streams of rows are read that a shop's records are made from.
create table platforms.streams (
  shop_id bigint not null,
  stream text not null,
  -- The source that it is from.
  account text not null,
  -- The types of records that it makes.
  types text[] not null,
  -- The highest value of its cursor whose rows are stored.
  cursor text,
  -- Null until it has been read to its end once.
  read_at timestamptz(3),
  -- When all of its rows were read last; null makes that due.
  whole_at timestamptz(3),
  -- How many rows were read last.
  rows bigint not null default 0,
  primary key (shop_id, stream)
);
