-- The ledger: sums of facts by time, so that a figure takes the same time for any shop (docs/decisions/0020-ledger.md).
--
--   records  ->  facts (something counted at an instant)  ->  ledger (their sums by minute, hour, day and month)
--
-- What is stored is always a function of the records as they are. Facts of payments, refunds, sessions and renewals
-- stand one for one in the records' own rows. The others are in facts/: they follow from several rows at once, so they
-- are computed again for everything that a statement touched, and what differs from what was stored is written. So
-- neither the order of records nor how often they arrive can matter. The triggers call all of it.

-- One writer of a shop at a time, from its first change to its commit: what is computed from the records is never out
-- of date when it is stored. Called before anything else, and of several shops in one order, so that writers never wait
-- for each other in a circle. It also writes something once a transaction, so that a transaction whose snapshot is
-- older than the lock (repeatable read) fails instead of computing from it.
create or replace function lock_shop(shop bigint) returns void language plpgsql as $$
begin
  perform require_here(shop);
  insert into metric_shops as m (shop_id, writer) values (shop, pg_current_xact_id())
  on conflict (shop_id) do update set writer = excluded.writer
    where m.writer is distinct from excluded.writer;
end $$;

-- Facts that say how a state changed are summed over all time (grain `all`, bucket -infinity), which is what holds once
-- all of them have happened, and by UTC day (grain `shift`), from which follows what held before. The other facts are
-- events of their own.
create or replace function is_state(fact text) returns boolean language sql immutable as $$
  select fact in ('subscriber', 'paused_subscriber', 'paused_undated', 'live', 'trial', 'dunning_open')
    or fact like 'active %'
$$;

-- Facts that are only summed by UTC month: of cohorts (`cohort 2026-03 customers`, `… retained`, and the change of
-- their active value, `… month 1`) and of cancel-flow sessions.
create or replace function is_monthly(fact text) returns boolean language sql immutable as $$
  select fact like 'cohort %' or fact like 'cancel_flow %'
$$;

-- Facts that only say what holds now, summed at no time (grain `present`, bucket -infinity): the subscriptions that are
-- live since a known date, with their prices, by what they are told apart by.
create or replace function is_present(fact text) returns boolean language sql immutable as $$
  select fact like 'present %'
$$;

-- Facts of changes of prices, which are only summed by UTC day, in a grain of their own: there are many.
create or replace function is_price(fact text) returns boolean language sql immutable as $$
  select fact like 'price %'
$$;

-- Of one change: `price rose 7` of plan 7 and by how much a month; `price rose 7 was`, what it was before; and
-- `price rose 7 30`, if it left within 30 days, what it was worth then; the same of 60 and 90.
create or replace function price_facts(
  plan_id bigint, at timestamptz, was numeric, became numeric, left_at timestamptz, lost numeric
) returns table (fact text, count integer, amount numeric) language sql immutable as $$
  select 'price ' || case when became > was then 'rose ' else 'fell ' end || plan_id::text || v.part, v.count, v.amount
  from (values ('', 1, became - was), (' was', 0, was)) v (part, count, amount)
  union all
  select 'price ' || case when became > was then 'rose ' else 'fell ' end || plan_id::text || ' ' || days::text, 1, lost
  from unnest('{30,60,90}'::integer[]) days
  where left_at - at < days * interval '1 day'
$$;

-- `present active 7 8 month 1 stripe`: the status, the plan, the band of the price, the interval if it has one of its own,
-- and the feed. Numbers are cast, so that it becomes part of the statement.
create or replace function present_fact(
  status text, plan_id bigint, price numeric, own_unit text, own_count integer, feed text
) returns text language sql immutable as $$
  select 'present ' || status || ' ' || plan_id::text || ' ' || price_band(price)::text || ' ' || coalesce(own_unit, '')
    || ' ' || coalesce(own_count::text, '') || ' ' || coalesce(feed, '')
$$;

-- `cancel_flow saved too_expensive pause`: the outcome or `open`, the reason, the offer or `none`.
create or replace function session_fact(outcome text, reason text, offer text) returns text language sql immutable as $$
  select 'cancel_flow ' || coalesce(outcome, 'open') || ' ' || reason || ' ' || coalesce(offer, 'none')
$$;

create or replace function metric_minute(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 minute', at, timestamptz 'epoch')
$$;

create or replace function metric_hour(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 hour', at, timestamptz 'epoch')
$$;

create or replace function metric_day(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 day', at, timestamptz 'epoch')
$$;

create or replace function metric_month(at timestamptz) returns timestamptz language sql immutable as $$
  select date_trunc('month', at at time zone 'UTC') at time zone 'UTC'
$$;

-- The finest piece of time that a fact is summed by.
create or replace function metric_floor(at timestamptz, kept_since timestamptz) returns timestamptz language sql immutable as $$
  select case when at >= kept_since then metric_minute(at) else metric_day(at) end
$$;

-- Where a fact is summed. Those of history alone need only their day.
create or replace function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when is_monthly(fact) then 'month' when is_state(fact) then 'shift' when is_price(fact) then 'price'
      else 'day' end,
    case when is_monthly(fact) then metric_month(at) else metric_day(at) end
  where not is_present(fact)
  union all
  select case when is_present(fact) then 'present' else 'all' end, timestamptz '-infinity'
  where is_state(fact) or is_present(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact) and not is_monthly(fact) and not is_present(fact)
    and not is_price(fact) and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

-- An insert that begins with the shop's row of metric_shops stays on the node of a cluster that has the shop; so it is
-- in all functions that write facts.
create or replace function add_to_ledger(shop bigint, facts ledger_fact[]) returns void language plpgsql as $$
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

-- The facts of what a shop has now, those of one price as one.
create or replace function present_facts_of(shop bigint) returns setof ledger_fact language plpgsql stable as $$
begin
  return query
  select present_fact(s.status, s.plan_id, s.current_price, s.own_interval_unit, s.own_interval_count, s.feed),
    timestamptz '-infinity', count(*), sum(s.current_price)
  from unnest('{active,paused}'::text[]) is_now (status)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and status between is_now.status and is_now.status and status_since is not null
    order by status, created_at, subscription_id offset 0
  ) s
  group by s.status, s.plan_id, s.current_price, s.own_interval_unit, s.own_interval_count, s.feed;
end $$;

-- The sums of all facts of a shop: those of records from the records, the others as they are stored.
create or replace function metric_sums_of(shop bigint)
returns table (grain text, bucket timestamptz, fact text, count bigint, amount numeric)
language plpgsql stable as $$
declare
  -- First, and apart: a cluster runs the statement below where the shop's rows are, and none within it.
  present ledger_fact[] := array(select row(f.*)::ledger_fact from present_facts_of(shop) f);
begin
  return query
  with facts as (
    select 'paid' as fact, p.processed_at as at, 1::bigint as count, p.amount
    from payments p where p.shop_id = shop and p.status = 'succeeded'
    union all
    select 'refunded', r.refunded_at, 1, r.amount from refunds r where r.shop_id = shop
    union all
    select v.fact, s.created_at, 1, 0
    from cancellation_sessions s
    cross join lateral (values ('session_' || coalesce(s.outcome, 'open')),
      (session_fact(s.outcome, s.detected_reason, s.offer_type))) v (fact)
    where s.shop_id = shop
    union all
    select v.fact, s.next_billing_at, 1, price_at(s.current_price, s.other_intervals, billed.at)
    from subscriptions s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
    cross join lateral (values (coalesce(s.own_interval_unit, p.interval_unit)
      || ' ' || coalesce(s.own_interval_count, p.interval_count))) billed (at)
    cross join lateral (values ('renewal'), ('due ' || billed.at)) v (fact)
    where s.shop_id = shop and s.status = 'active' and s.next_billing_at is not null
    union all
    select f.fact, f.at, f.count, f.amount from unnest(present) f
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
    union all
    select f.fact, c.at, f.count, f.amount
    from price_changes c
    cross join lateral price_facts(c.plan_id, c.at, c.was, c.became, c.left_at, c.lost) f
    where c.shop_id = shop
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
  delete from customer_values where shop_id = shop;
  delete from subscription_values where shop_id = shop;
  delete from failed_cycles where shop_id = shop;
  delete from departures where shop_id = shop;
  delete from price_changes where shop_id = shop;
  delete from superseded_facts where shop_id = shop;
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
    perform refresh_departures(shop, ids);
    perform refresh_price_changes(shop, ids);
    perform refresh_subscription_values(shop, ids);
    last := ids[cardinality(ids)];
  end loop;

  delete from metric_ledger where shop_id = shop;
  insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
  select shop, s.* from metric_sums_of(shop) s
  -- As they will be read.
  order by s.grain, s.bucket, s.fact;
end $$;

create or replace function rebuild_all_metrics() returns trigger language plpgsql as $$
begin
  perform rebuild_metrics(shop_id) from shops order by shop_id;
  return null;
end $$;
