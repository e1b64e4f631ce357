-- API keys, and what is recorded of the requests that come with them (docs/decisions/0025-process.md).

create table api_keys (
  shop_id bigint not null references shops,
  key_id text not null,
  -- SHA-256 of the key.
  hash bytea not null check (octet_length(hash) = 32),
  last_four text not null,
  name text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- When it ends by itself: at a chosen time, or some time after it was rotated.
  expires_at timestamptz(3),
  -- The key_id of the key that it was rotated to.
  replaced_by text,
  primary key (shop_id, key_id)
);

-- listKeysByHash: the one look-up that finds the shop instead of starting from it. Not unique: the hash of 222 random
-- bits needs no constraint, and one across shops could not be distributed.
create index api_keys_by_hash on api_keys (hash);

-- How many requests with a key had which operation and answer, by the hour, for 30 days.
create table request_counts (
  shop_id bigint not null,
  key_id text not null,
  -- Its beginning.
  hour timestamptz(3) not null,
  -- The name of an operation or an MCP method, or "unknown".
  operation text not null,
  -- The status of the HTTP response.
  status integer not null,
  requests bigint not null check (requests > 0),
  primary key (shop_id, key_id, hour, operation, status),
  foreign key (shop_id, key_id) references api_keys on delete cascade
);

-- The latest requests with a shop's keys. A row has as many as an instance writes at once: a row for each request cost
-- the server ten times as much.
create table request_batches (
  shop_id bigint not null references shops on delete cascade,
  -- When the last of them was answered.
  last_at timestamptz(3) not null,
  batch_id uuid not null,
  requests integer not null,
  -- From here on an element for each request, without anything that it asked for or was answered.
  at timestamptz(3)[] not null,
  request_id uuid[] not null,
  key_id text[] not null,
  -- How it came: rest, mcp, or page (from the owner's pages).
  transport text[] not null,
  -- The name of an operation or an MCP method, or "unknown".
  operation text[] not null,
  status integer[] not null,
  -- How long the answer took.
  microseconds bigint[] not null,
  -- How many requests before this one are missing, because they came faster than they were written.
  dropped bigint[] not null,
  -- listLoggedRequests, newest first; deleting the oldest.
  primary key (shop_id, last_at, batch_id)
);

-- What version 1.0.0 has instead of request_batches. Nothing here uses it; it stays until no instance of 1.0.0 can run
-- beside this version any more.
create table request_log (
  shop_id bigint not null,
  at timestamptz(3) not null,
  request_id uuid not null,
  key_id text not null,
  transport text not null,
  operation text not null,
  status integer not null,
  microseconds bigint not null,
  dropped bigint not null,
  primary key (shop_id, at, request_id),
  foreign key (shop_id, key_id) references api_keys on delete cascade
);
