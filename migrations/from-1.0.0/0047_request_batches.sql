-- The latest requests with a shop's keys, as many in one row as an instance writes at once: a row for each request
-- cost the server ten times as much. It replaces request_log, which the previous version still reads and writes; a
-- later migration drops that.
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
  -- Requests before this one that are missing, because they came faster than they were written.
  dropped bigint[] not null,
  -- Newest first, for the page and for deleting the oldest.
  primary key (shop_id, last_at, batch_id)
);
