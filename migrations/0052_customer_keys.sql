-- A shop's secret, under which the e-mail addresses that its sources have for ids of customers become ids
-- (docs/decisions/0007-records-and-ids.md). Made when it is first needed. The login that serves requests may not read
-- it; copies of the shop have it.
create table customer_keys (
  shop_id bigint primary key references shops,
  -- 32 bytes in hexadecimal.
  key text not null check (key ~ '^[0-9a-f]{64}$')
);
