-- From where keys may be used, and for how long.

-- Networks (203.0.113.0/24) and addresses from which a key is accepted; none for everywhere.
alter table api_keys add column networks text[] not null default '{}';

-- What the owners of a shop decided about its keys, in days: after how many a new key expires unless its maker chooses,
-- and after how many at the latest. Null for never.
alter table shops add column key_default_days integer check (key_default_days between 1 and 3650);
alter table shops add column key_max_days integer check (key_max_days between 1 and 3650);
