-- Renewals are summed by billing interval too, so that they can be projected beyond the one date that is known of
-- each; and each subscription knows when it was last saved.

-- All writers wait while triggers change and sums are filled; readers are not affected.
lock table shops in exclusive mode;

-- Brings saved_at of some subscriptions up to date.
create function refresh_saved(shop bigint, subscription_ids bigint[]) returns void language plpgsql as $$
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
create function rebuild_saves(shop bigint) returns void language plpgsql as $$
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

-- Three triggers on a table, for what is inserted, updated and deleted, from one body in which `changes`
-- stands for the rows that came (sign 1) and went (sign -1). Facts are summed as finely as they are kept, so that
-- a statement about years hands over days.
create procedure pg_temp.keep_metrics(watched text, body text) language plpgsql as $keep$
declare
  operation text;
  changes text;
begin
  foreach operation in array array['insert', 'update', 'delete'] loop
    changes := case operation
      when 'insert' then '(select 1 as sign, * from new_rows) changes'
      when 'delete' then '(select -1 as sign, * from old_rows) changes'
      else '(select 1 as sign, * from new_rows union all select -1, * from old_rows) changes'
    end;
    execute format(
      'create or replace function %I() returns trigger language plpgsql as %L',
      watched || '_metrics_' || operation,
      replace(
        'declare
          shops bigint[] := array(select distinct shop_id from changes order by shop_id);
          shop bigint;
          kept_since timestamptz;
          facts ledger_fact[];
          ids bigint[];
          plan_ids bigint[];
          customer_ids bigint[];
          units text[];
          cycles integer[];
          times timestamptz[];
          counts bigint[];
          amounts numeric[];
        begin
          foreach shop in array shops loop
            perform lock_shop(shop);
            select hours_since into kept_since from metric_shops where shop_id = shop;'
          || body || '
          end loop;
          return null;
        end',
        'from changes', 'from ' || changes
      )
    );
  end loop;
end $keep$;

call pg_temp.keep_metrics('cancellation_sessions', $body$
  facts := array(
    select row('session_' || coalesce(outcome, 'open'), metric_floor(created_at, kept_since), sum(sign), 0)::ledger_fact
    from changes where shop_id = shop
    group by outcome, metric_floor(created_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from changes
    where shop_id = shop and outcome = 'saved' and subscription_id is not null
  );
  perform refresh_saved(shop, ids);
$body$);

-- Rows that changed are read alone, never beside a table: a cluster cannot do both in one query.
--
-- What renews is summed in whole, as `renewal`, and by billing interval, as `due month 1`. A statement changes
-- plans or subscriptions, not both: their intervals are those of the plans as they are.
--
-- A change of what is not named below leaves all of a subscriber's facts as they were. One that is inserted
-- with a history leaves its customer to the trigger of status events, which are written next.
call pg_temp.keep_metrics('subscriptions', $body$
  facts := array(
    select row('renewal', metric_floor(next_billing_at, kept_since), sum(sign), sum(sign * current_price))::ledger_fact
    from changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
  );
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(at),
    array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since) as at,
      sum(sign) as count, sum(sign * current_price) as amount
    from changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
  ) renewing;
  facts := facts || array(
    select row('due ' || coalesce(c.unit, p.interval_unit) || ' ' || coalesce(c.cycles, p.interval_count),
      c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, times, counts, amounts) c (plan_id, unit, cycles, at, count, amount)
    cross join lateral (
      select interval_unit, interval_count from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    group by coalesce(c.unit, p.interval_unit), coalesce(c.cycles, p.interval_count), c.at
  );
  perform add_to_ledger(shop, facts);
  if tg_op = 'INSERT' then
    ids := array(select subscription_id from changes where shop_id = shop);
    perform refresh_saved(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);
$body$);

-- A plan gives its interval to those of its subscriptions that have none of their own.
call pg_temp.keep_metrics('plans', $body$
  ids := array(
    select plan_id from changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row('due ' || c.unit || ' ' || c.cycles, metric_floor(s.next_billing_at, kept_since),
      sum(c.sign), sum(c.sign * s.current_price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at, current_price from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by c.unit, c.cycles, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.current_price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and own_interval_unit is null
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
$body$);

drop procedure pg_temp.keep_metrics;

-- The sums of all facts of a shop: those of subscribers, cases and cycles as they are stored.
create or replace function metric_sums_of(shop bigint)
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
    select v.fact, s.next_billing_at, 1, s.current_price
    from subscriptions s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || coalesce(s.own_interval_unit, p.interval_unit)
      || ' ' || coalesce(s.own_interval_count, p.interval_count))) v (fact)
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

do $$
declare
  shop bigint;
begin
  for shop in select shop_id from shops order by shop_id loop
    perform rebuild_saves(shop);

    insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
    select m.shop_id, b.grain, b.bucket, f.fact, count(*), trim_scale(sum(s.current_price))
    from metric_shops m
    join subscriptions s on s.shop_id = m.shop_id
    join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    cross join lateral (
      select 'due ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as fact
    ) f
    cross join metric_buckets(f.fact, s.next_billing_at, m.hours_since) b
    where m.shop_id = shop and s.status = 'active' and s.next_billing_at is not null
    group by m.shop_id, b.grain, b.bucket, f.fact
    order by m.shop_id, b.grain, b.bucket, f.fact;
  end loop;
end $$;

-- summariseKept: the active subscriptions by when they were saved, from the index alone.
create index subscriptions_saved on subscriptions (shop_id, saved_at)
  include (plan_id, own_interval_unit, own_interval_count, current_price)
  where status = 'active' and saved_at is not null;
