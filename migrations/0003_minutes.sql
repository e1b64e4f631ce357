-- The ledger also sums by minute, so that the ragged ends of a window are shorter than that, and its
-- cost hardly grows with the shop. And what keeps it costs whoever imports two thirds of what it did.

-- Nobody writes while this is built; whoever only reads feels nothing.
lock table shops in exclusive mode;

create function metric_minute(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 minute', at, timestamptz 'epoch')
$$;

-- The finest piece of time that a fact is kept by.
create function metric_floor(at timestamptz, kept_since timestamptz)
returns timestamptz language sql immutable as $$
  select case when at >= kept_since then metric_minute(at) else metric_day(at) end
$$;

-- Where a fact is summed. Those of history alone need only their day. Minutes are kept as long as hours.
create or replace function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when is_state(fact) then 'shift' else 'day' end, metric_day(at)
  union all
  select 'all', timestamptz '-infinity' where is_state(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact)
    and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

-- Sums that have become nothing are found by where they were just written, not by another search.
create or replace function add_to_ledger(facts metric_fact[]) returns void language plpgsql as $$
declare
  empty_rows tid[];
begin
  if cardinality(facts) = 0 then return; end if;
  with written as (
    insert into metric_ledger as l (shop_id, grain, bucket, fact, count, amount)
    select f.shop_id, b.grain, b.bucket, f.fact, sum(f.count), trim_scale(sum(f.amount))
    from unnest(facts) f
    join metric_shops m on m.shop_id = f.shop_id
    cross join metric_buckets(f.fact, f.at, m.hours_since) b
    group by f.shop_id, b.grain, b.bucket, f.fact
    having sum(f.count) <> 0 or sum(f.amount) <> 0
    order by f.shop_id, b.grain, b.bucket, f.fact
    on conflict (shop_id, grain, bucket, fact) do update
      set count = l.count + excluded.count, amount = trim_scale(l.amount + excluded.amount)
    returning ctid as place, count = 0 and amount = 0 as is_empty
  )
  select array_agg(place) filter (where is_empty) into empty_rows from written;
  if empty_rows is not null then
    delete from metric_ledger where ctid = any (empty_rows);
  end if;
end $$;

-- What the three triggers of a table do, for what is inserted, updated and deleted, from one body in
-- which `changes` stands for the rows that came (sign 1) and went (sign -1). Facts are summed as finely
-- as they are kept, so that a statement about years hands over days. Those of plans and status events
-- sum nothing, and stay.
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
      'create or replace function %I() returns trigger language plpgsql
        set plan_cache_mode = force_generic_plan as %L',
      watched || '_metrics_' || operation,
      replace(
        'declare
          shops bigint[] := array(select distinct shop_id from changes);
          shop bigint;
          kept_since timestamptz;
        begin
          if cardinality(shops) = 0 then return null; end if;
          perform lock_shops(shops);
          kept_since := (select min(hours_since) from metric_shops where shop_id = any (shops));'
          || body || '
          return null;
        end',
        'from changes', 'from ' || changes
      )
    );
  end loop;
end $keep$;

call pg_temp.keep_metrics('payments', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::metric_fact
    from changes where status = 'succeeded'
    group by shop_id, metric_floor(processed_at, kept_since)
    having sum(sign) <> 0 or sum(sign * amount) <> 0
  ));
  foreach shop in array shops loop
    perform refresh_failed_cycles(shop, array(
      select distinct subscription_id from changes
      where shop_id = shop and status = 'failed' and failure_kind is distinct from 'inventory'
    ));
    perform refresh_dunning(shop, array(
      select distinct subscription_id from changes
      where shop_id = shop and (status = 'succeeded'
        or status = 'failed' and failure_kind is distinct from 'inventory')
    ));
  end loop;
$body$);

call pg_temp.keep_metrics('refunds', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::metric_fact
    from changes
    group by shop_id, metric_floor(refunded_at, kept_since)
  ));
$body$);

call pg_temp.keep_metrics('cancellation_sessions', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'session_' || coalesce(outcome, 'open'), metric_floor(created_at, kept_since), sum(sign), 0)::metric_fact
    from changes
    group by shop_id, outcome, metric_floor(created_at, kept_since)
  ));
$body$);

call pg_temp.keep_metrics('subscriptions', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'renewal', metric_floor(next_billing_at, kept_since), sum(sign), sum(sign * current_price))::metric_fact
    from changes where status = 'active' and next_billing_at is not null
    group by shop_id, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
  ));
  foreach shop in array shops loop
    -- A change of what is not named here leaves all of a subscriber's facts as they were. One that is
    -- inserted together with events of its status leaves its customer to their trigger: they cannot
    -- have been there before it, so they came in the same statement, and what is worked out after
    -- them sees all of it.
    perform refresh_subscribers(shop, array(
      select distinct changed.customer_id
      from (
        select subscription_id, customer_id from changes where shop_id = shop
        group by subscription_id, customer_id, plan_id, status, status_since, current_price,
          own_interval_unit, own_interval_count, created_at
        having sum(sign) <> 0
      ) changed
      left join lateral (
        select true as is_there from status_events
        where tg_op = 'INSERT' and shop_id = shop and subscription_id = changed.subscription_id
        limit 1
      ) event on true
      where event.is_there is null
    ));
  end loop;
$body$);

-- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
call pg_temp.keep_metrics('subscriber_changes', $body$
  perform add_to_ledger(array(
    select row(shop_id, fact, metric_floor(at, kept_since), sum(count), sum(amount))::metric_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0 from changes where paused_subscriber <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0 from changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from changes where churned <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from changes cross join lateral unnest(active) a where active <> '{}'
    ) facts
    group by shop_id, fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  ));
$body$);

call pg_temp.keep_metrics('failed_cycles', $body$
  perform add_to_ledger(array(
    select row(shop_id, case when is_last then 'cycle_failed' else 'cycle_failed_before' end, metric_floor(failed_at, kept_since), sum(sign), 0)::metric_fact
    from changes
    group by shop_id, is_last, metric_floor(failed_at, kept_since)
  ));
$body$);

call pg_temp.keep_metrics('dunning_cases', $body$
  perform add_to_ledger(array(
    select row(shop_id, fact, metric_floor(at, kept_since), sum(count), 0)::metric_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from changes where closed_at is not null
    ) facts
    group by shop_id, fact, metric_floor(at, kept_since)
  ));
$body$);

drop procedure pg_temp.keep_metrics;

-- The ledger is filled anew beside the one that is being read.
create table next_ledger (
  like metric_ledger including storage,
  check (grain in ('minute', 'hour', 'day', 'shift', 'all')),
  primary key (shop_id, grain, bucket, fact)
) with (fillfactor = 70);

insert into next_ledger (shop_id, grain, bucket, fact, count, amount)
select s.shop_id, sums.*
from shops s
cross join lateral metric_sums_of(s.shop_id) sums
-- As they will be read.
order by s.shop_id, sums.grain, sums.bucket, sums.fact;

-- Last, as nobody can read the metrics from here to the end.
drop table metric_ledger;
alter table next_ledger rename to metric_ledger;
alter index next_ledger_pkey rename to metric_ledger_pkey;
alter table metric_ledger rename constraint next_ledger_grain_check to metric_ledger_grain_check;
