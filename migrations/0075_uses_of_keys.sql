-- When keys were used is written all the time: beside the rest of a shop's rows, since a cluster has api_keys on every node.
create table key_uses (
  shop_id bigint not null,
  key_id text not null,
  last_used_at timestamptz(3) not null,
  primary key (shop_id, key_id),
  foreign key (shop_id, key_id) references api_keys on delete cascade
);

-- Version 1.0.0 still writes and reads api_keys.last_used_at. Until no instance of it can run beside this version, the
-- later of both counts.
insert into key_uses
select shop_id, key_id, last_used_at from api_keys where last_used_at is not null;
