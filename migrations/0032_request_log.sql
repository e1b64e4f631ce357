-- The latest requests with a shop's keys, without anything that they asked for or were answered. Writing new rows
-- deletes the oldest.
create table request_log (
  shop_id bigint not null,
  -- When it was answered.
  at timestamptz(3) not null,
  request_id uuid not null,
  key_id text not null,
  -- How it came: rest, mcp, or page (from the owner's pages).
  transport text not null,
  -- The name of an operation or an MCP method, or "unknown".
  operation text not null,
  status integer not null,
  -- How long the answer took.
  microseconds bigint not null,
  -- Requests before this one that are missing, because they came faster than they were written.
  dropped bigint not null,
  -- For the page, newest first, and for deleting the oldest.
  primary key (shop_id, at, request_id),
  foreign key (shop_id, key_id) references api_keys on delete cascade
);
