-- Nobody writes while functions change; readers are not affected.
lock table shops in exclusive mode;

-- The transaction that wrote last: the lock of a shop's writers.
alter table metric_shops add column writer xid8;

create type ledger_fact as (fact text, at timestamptz, count bigint, amount numeric);

-- One writer of a shop at a time, from its first change to its commit: what is worked out from the records
-- is never out of date when it is stored. Before anything else, and of several shops in one order, so that
-- writers never wait for each other in a circle. Something is also written, once a transaction, so that one
-- whose snapshot is older than the lock (repeatable read) fails instead of computing from it.
create function lock_shop(shop bigint) returns void language plpgsql as $$
begin
  insert into metric_shops as m (shop_id, writer) values (shop, pg_current_xact_id())
  on conflict (shop_id) do update set writer = excluded.writer
    where m.writer is distinct from excluded.writer;
end $$;

-- An insert that begins with the shop's row of metric_shops stays where the shop is stored.
create function add_to_ledger(shop bigint, facts ledger_fact[]) returns void language plpgsql as $$
declare
  written record;
begin
  if cardinality(facts) = 0 then return; end if;
  for written in
    insert into metric_ledger as l (shop_id, grain, bucket, fact, count, amount)
    select m.shop_id, b.grain, b.bucket, f.fact, sum(f.count), trim_scale(sum(f.amount))
    from metric_shops m
    cross join unnest(facts) f
    cross join metric_buckets(f.fact, f.at, m.hours_since) b
    where m.shop_id = shop
    group by m.shop_id, b.grain, b.bucket, f.fact
    having sum(f.count) <> 0 or sum(f.amount) <> 0
    order by m.shop_id, b.grain, b.bucket, f.fact
    on conflict (shop_id, grain, bucket, fact) do update
      set count = l.count + excluded.count, amount = trim_scale(l.amount + excluded.amount)
    returning l.grain, l.bucket, l.fact, l.count = 0 and l.amount = 0 as is_empty
  loop
    if written.is_empty then
      delete from metric_ledger
      where shop_id = shop and grain = written.grain and bucket = written.bucket
        and fact = written.fact;
    end if;
  end loop;
end $$;

drop function metric_sums_of(bigint);
drop function metric_facts_of(bigint);

-- The sums of all facts of a shop: those of subscribers, cases and cycles as they are stored.
create function metric_sums_of(shop bigint)
returns table (grain text, bucket timestamptz, fact text, count bigint, amount numeric)
language plpgsql stable as $$
begin
  return query
  with facts as (
    select 'paid' as fact, p.processed_at as at, 1::bigint as count, p.amount
    from payments p where p.shop_id = shop and p.status = 'succeeded'
    union all
    select 'refunded', r.refunded_at, 1, r.amount from refunds r where r.shop_id = shop
    union all
    select 'session_' || coalesce(s.outcome, 'open'), s.created_at, 1, 0
    from cancellation_sessions s where s.shop_id = shop
    union all
    select 'renewal', s.next_billing_at, 1, s.current_price
    from subscriptions s
    where s.shop_id = shop and s.status = 'active' and s.next_billing_at is not null
    union all
    select f.fact, f.at, f.count::bigint, f.amount from subscriber_facts f where f.shop_id = shop
    union all
    select case when c.is_last then 'cycle_failed' else 'cycle_failed_before' end, c.failed_at, 1, 0
    from failed_cycles c where c.shop_id = shop
    union all
    select v.fact, v.at, v.count, 0
    from dunning_cases d
    cross join lateral (values
      ('dunning_open', d.opened_at, 1), ('dunning_open', d.closed_at, -1),
      ('dunning_' || d.result, d.closed_at, 1)
    ) v (fact, at, count)
    where d.shop_id = shop and v.at is not null
  )
  select b.grain, b.bucket, f.fact, sum(f.count)::bigint, trim_scale(sum(f.amount))
  from metric_shops m
  cross join facts f
  cross join metric_buckets(f.fact, f.at, m.hours_since) b
  where m.shop_id = shop
  group by b.grain, b.bucket, f.fact
  having sum(f.count) <> 0 or sum(f.amount) <> 0;
end $$;

-- Everything of a shop anew, from its records alone; a few thousand at a time, as lists are kept in memory.
create or replace function rebuild_metrics(shop bigint) returns void language plpgsql as $$
declare
  slice constant integer := 10000;
  ids bigint[];
  last bigint := 0;
begin
  perform lock_shop(shop);
  delete from subscriber_changes where shop_id = shop;
  delete from failed_cycles where shop_id = shop;
  loop
    select array_agg(c.customer_id order by c.customer_id) into ids
    from (
      select customer_id from customers where shop_id = shop and customer_id > last
      order by customer_id limit slice
    ) c;
    exit when ids is null;
    perform refresh_subscribers(shop, ids);
    last := ids[cardinality(ids)];
  end loop;
  last := 0;
  loop
    select array_agg(s.subscription_id order by s.subscription_id) into ids
    from (
      select subscription_id from subscriptions where shop_id = shop and subscription_id > last
      order by subscription_id limit slice
    ) s;
    exit when ids is null;
    perform refresh_failed_cycles(shop, ids);
    perform refresh_dunning(shop, ids);
    last := ids[cardinality(ids)];
  end loop;

  delete from metric_ledger where shop_id = shop;
  insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
  select shop, s.* from metric_sums_of(shop) s
  -- As they will be read.
  order by s.grain, s.bucket, s.fact;
end $$;
