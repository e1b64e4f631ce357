-- How many requests with a key had which operation and answer, by the hour, for 30 days. It replaces key_requests,
-- which the previous version still reads and writes; a later migration drops that.
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
