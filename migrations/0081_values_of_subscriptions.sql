-- What subscriptions are worth a month, so that they can be listed by it. A later migration, which has the functions, fills
-- it.

create table subscription_values (
  shop_id bigint not null,
  subscription_id bigint not null,
  -- That of the subscription, so that one index has those of a status.
  status text not null,
  value numeric not null,
  primary key (shop_id, subscription_id)
);

do $$
begin
  if not exists (select from pg_attribute where attrelid = 'departure'::regclass and attname = 'value') then
    alter type departure add attribute value numeric;
  end if;
end $$;

-- listSubscriptions, listSegmentSubscriptions and listCounted by value.
create index subscription_values_by_value on subscription_values (shop_id, status, value, subscription_id);
