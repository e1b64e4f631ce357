-- When the cancel flow last saved a subscription: when the latest of its sessions with the outcome `saved` began. It is
-- a column of the subscription, so that what the cancel flow kept is read from one index.

create or replace function refresh_saved(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  outdated bigint[];
begin
  outdated := array(
    select s.subscription_id
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select subscription_id, saved_at from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    where s.saved_at is distinct from (
      select max(created_at) from (
        select * from cancellation_sessions
        where shop_id = shop and subscription_id between wanted.id and wanted.id
        order by subscription_id offset 0
      ) c
      where outcome = 'saved'
    )
  );
  if cardinality(outdated) = 0 then return; end if;
  update subscriptions s
  set saved_at = (
    select max(created_at) from (
      select * from cancellation_sessions
      where shop_id = shop and subscription_id between s.subscription_id and s.subscription_id
      order by subscription_id offset 0
    ) c
    where outcome = 'saved'
  )
  where s.shop_id = shop and s.subscription_id = any (outdated);
end $$;

-- The same for all subscriptions of a shop, a few thousand at a time, as lists are kept in memory.
create or replace function rebuild_saves(shop bigint) returns void language plpgsql as $$
declare
  slice constant integer := 10000;
  ids bigint[];
  last bigint := 0;
begin
  perform lock_shop(shop);
  loop
    select array_agg(s.subscription_id order by s.subscription_id) into ids
    from (
      select subscription_id from subscriptions where shop_id = shop and subscription_id > last
      order by subscription_id limit slice
    ) s;
    exit when ids is null;
    perform refresh_saved(shop, ids);
    last := ids[cardinality(ids)];
  end loop;
end $$;
