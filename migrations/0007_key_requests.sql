-- How many requests came with a key, hour by hour. Of each key the last two days are kept: whoever adds to
-- them takes away what is older.
create table key_requests (
  shop_id bigint not null,
  key_id text not null,
  -- Its beginning.
  hour timestamptz(3) not null,
  requests bigint not null check (requests > 0),
  primary key (shop_id, key_id, hour),
  foreign key (shop_id, key_id) references api_keys on delete cascade
);
