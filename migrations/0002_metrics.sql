-- The aggregates behind the metrics summary, kept by triggers in the transaction of the records they
-- summarise, whoever writes those. What is stored is always a function of the records as they are:
--
--   records  ──►  facts (something counted at an instant)  ──►  ledger (their sums by day and hour)
--
-- Facts of payments, refunds, sessions and renewals stand one for one in their records' own rows. The
-- others (of subscribers, dunning cases, cycles) follow from several rows at once: they are worked out
-- anew for whoever a statement touched, and only what differs from what was stored is written. So
-- neither the order of records nor the number of times they arrive can matter.
--
-- What belongs to a few keys is looked up one key at a time, through `lateral (… limit 1)` or
-- `lateral (… offset 0)`, rather than by a join: while a table is new its statistics say nothing, and
-- the planner would at times read the whole shop for every statement. For the same reason what the
-- triggers do is planned once for any shop: of one that is new the statistics say that it has nothing.

-- Nobody writes while this is built: all writers begin by locking a row of shops, or will wait at the
-- tables below. Whoever only reads feels nothing.
lock table shops in exclusive mode;
lock table plans, customers, subscriptions, status_events, payments, refunds, dunning_cases,
  cancellation_sessions in share row exclusive mode;

create type metric_fact as (shop_id bigint, fact text, at timestamptz, count bigint, amount numeric);

-- Sums of facts by UTC day and hour. Facts that say how a state changed are summed over all time
-- instead (grain `all`, bucket -infinity), which is what holds once all of them have happened, and by
-- UTC day (grain `shift`), from which follows what held before. Sums of nothing have no row.
create table metric_ledger (
  shop_id bigint not null,
  grain text collate "C" not null check (grain in ('hour', 'day', 'shift', 'all')),
  bucket timestamptz not null,
  fact text collate "C" not null,
  count bigint not null,
  amount numeric not null,
  primary key (shop_id, grain, bucket, fact)
) with (fillfactor = 70);

-- From when on a shop's facts are summed by hour. The hours of a window that began before that are read
-- fact by fact: only who asks how things stood in the past waits for that, and the hours of all the
-- years that a shop brings along at first need not be written.
create table metric_shops (
  shop_id bigint primary key references shops on delete cascade,
  hours_since timestamptz not null
    default date_bin('1 day', now() - interval '40 days', timestamptz 'epoch')
);

create type active_change as (fact text, count integer, amount numeric);

-- What follows from all subscriptions of a customer, by instant; how many of each:
create table subscriber_changes (
  shop_id bigint not null,
  customer_id bigint not null,
  at timestamptz(3) not null,
  -- the customer's first subscription began
  new_subscriber integer not null,
  -- the customer began (1) or ceased (-1) to be an active, or a paused, subscriber
  subscriber integer not null,
  paused_subscriber integer not null,
  -- subscriptions that began or ceased to be active or paused
  live integer not null,
  -- that became cancelled, and still are
  cancelled integer not null,
  -- that were cancelled at the end of this UTC day, but did not stay so
  cancelled_before integer not null,
  -- that were live for the last time, and are now cancelled or failed, or expired
  churned integer not null,
  expired integer not null,
  -- that began or ceased to be active, by billing interval (`active <unit> <count>`), with the price
  active active_change[] not null,
  primary key (shop_id, customer_id, at)
);

-- The last failed payment of a cycle on each UTC day; and whether it is the cycle's last at all.
create table failed_cycles (
  shop_id bigint not null,
  subscription_id bigint not null,
  cycle text not null,
  failed_at timestamptz(3) not null,
  is_last boolean not null,
  primary key (shop_id, subscription_id, cycle, failed_at)
);

-- summariseMetrics, the ragged ends of its windows: facts of less than an hour or a day.
create index subscriber_changes_by_time on subscriber_changes (shop_id, at);
create index failed_cycles_by_time on failed_cycles (shop_id, failed_at) include (is_last);
create index payments_paid on payments (shop_id, processed_at) include (amount)
  where status = 'succeeded';
create index subscriptions_renewing on subscriptions (shop_id, next_billing_at)
  include (current_price) where status = 'active';
create index dunning_cases_by_opening on dunning_cases (shop_id, opened_at);
-- dunning_cases_of, failed_cycles_of; summariseMetrics where a cycle fails again after its instant.
create index payments_failed on payments (shop_id, subscription_id, cycle, processed_at)
  where status = 'failed' and failure_kind is distinct from 'inventory';

-- Whether a fact says how a state changed; each of the others is an event of its own.
create function is_state(fact text) returns boolean language sql immutable as $$
  select fact in ('subscriber', 'paused_subscriber', 'live', 'dunning_open') or fact like 'active %'
$$;

create function metric_hour(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 hour', at, timestamptz 'epoch')
$$;

create function metric_day(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('1 day', at, timestamptz 'epoch')
$$;

-- Where a fact is summed. Those of history alone need only their day.
create function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when is_state(fact) then 'shift' else 'day' end, metric_day(at)
  union all
  select 'all', timestamptz '-infinity' where is_state(fact)
  union all
  select 'hour', metric_hour(at)
  where at >= hours_since and not is_state(fact)
    and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

create function add_to_ledger(facts metric_fact[]) returns void language plpgsql as $$
declare
  is_any_empty boolean;
begin
  if cardinality(facts) = 0 then return; end if;
  with sums as materialized (
    select f.shop_id, b.grain, b.bucket, f.fact, sum(f.count) as count, sum(f.amount) as amount
    from unnest(facts) f
    join metric_shops m on m.shop_id = f.shop_id
    cross join metric_buckets(f.fact, f.at, m.hours_since) b
    group by f.shop_id, b.grain, b.bucket, f.fact
    having sum(f.count) <> 0 or sum(f.amount) <> 0
  ),
  written as (
    insert into metric_ledger as l (shop_id, grain, bucket, fact, count, amount)
    select shop_id, grain, bucket, fact, count, trim_scale(amount) from sums
    order by shop_id, grain, bucket, fact
    on conflict (shop_id, grain, bucket, fact) do update
      set count = l.count + excluded.count, amount = trim_scale(l.amount + excluded.amount)
    returning count = 0 and amount = 0 as is_empty
  )
  select bool_or(is_empty) into is_any_empty from written;

  if is_any_empty then
    delete from metric_ledger where ctid = any (array(
      select empty.ctid
      from (
        select distinct f.shop_id, b.grain, b.bucket, f.fact
        from unnest(facts) f, metric_buckets(f.fact, f.at, '-infinity') b
      ) touched
      cross join lateral (
        select l.ctid from metric_ledger l
        where l.shop_id = touched.shop_id and l.grain = touched.grain
          and l.bucket = touched.bucket and l.fact = touched.fact and l.count = 0 and l.amount = 0
        limit 1
      ) empty
    ));
  end if;
end $$;

-- One writer of a shop at a time, from its first change to its commit: what is worked out from the
-- records is never out of date when it is stored. Before anything else and in one order, so that
-- writers never wait for each other in a circle. Something is also written, once a transaction, so that
-- one whose snapshot is older than the lock (repeatable read) fails instead of computing from it.
create function lock_shops(shop_ids bigint[]) returns void language plpgsql as $$
begin
  perform from shops where shop_id = any (shop_ids) order by shop_id for no key update;
  insert into metric_shops as m (shop_id) select unnest(shop_ids) order by 1
  on conflict (shop_id) do update set hours_since = m.hours_since
    where m.xmin <> pg_current_xact_id()::xid;
end $$;

-- The changes of some customers, from their subscriptions.
create function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_changes language sql stable as $$
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at,
      s.current_price, 'active ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as active
    from unnest(customer_ids) wanted (id)
    cross join lateral (
      select * from subscriptions where shop_id = shop and customer_id = wanted.id offset 0
    ) s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
  ),
  steps as materialized (
    select h.customer_id, h.subscription_id, h.active, h.current_price, h.created_at as at,
      -1 as position, '' as from_status, 'active' as to_status
    from held h
    union all
    select h.customer_id, h.subscription_id, h.active, h.current_price, e.at, e.position,
      e.from_status, e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      offset 0
    ) e
  ),
  moves as (
    select s.customer_id, s.at, s.active,
      (s.to_status = 'active')::int - (s.from_status = 'active')::int as is_active,
      (s.to_status = 'paused')::int - (s.from_status = 'paused')::int as is_paused,
      s.current_price, s.to_status,
      lead(s.at) over (partition by s.subscription_id order by s.position) as until
    from steps s
  ),
  by_interval as (
    select m.customer_id, m.at, m.active, sum(m.is_active)::int as active_count,
      sum(m.is_active * m.current_price) as active_amount, sum(m.is_paused)::int as paused_count,
      0 as new_subscriber, 0 as cancelled,
      count(*) filter (where m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at))
        ::int as cancelled_before,
      0 as churned, 0 as expired
    from moves m group by m.customer_id, m.at, m.active
    union all
    select h.customer_id, min(h.created_at), '', 0, 0, 0, 1, 0, 0, 0, 0
    from held h group by h.customer_id
    union all
    select h.customer_id, h.status_since, '', 0, 0, 0, 0, count(*)::int, 0, 0, 0
    from held h where h.status = 'cancelled' group by h.customer_id, h.status_since
    union all
    select h.customer_id, coalesce(e.at, h.status_since), '', 0, 0, 0, 0, 0, 0,
      (h.status <> 'expired')::int, (h.status = 'expired')::int
    from held h
    left join lateral (
      select e.at from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id
        and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
      order by e.position desc limit 1
    ) e on true
    where h.status not in ('active', 'paused')
  ),
  moments as (
    select b.customer_id, b.at, sum(b.active_count)::int as active,
      sum(b.paused_count)::int as paused, sum(b.new_subscriber)::int as new_subscriber,
      sum(b.cancelled)::int as cancelled, sum(b.cancelled_before)::int as cancelled_before,
      sum(b.churned)::int as churned, sum(b.expired)::int as expired,
      coalesce(
        array_agg(
          row(b.active, b.active_count, trim_scale(b.active_amount))::active_change
          order by b.active
        ) filter (where b.active_count <> 0 or b.active_amount <> 0), '{}'
      ) as actives
    from by_interval b group by b.customer_id, b.at
  ),
  states as (
    select m.*, sum(m.active) over past > 0 as is_subscriber,
      sum(m.active) over past <= 0 and sum(m.paused) over past > 0 as is_paused
    from moments m
    window past as (partition by m.customer_id order by m.at)
  ),
  changes as (
    select s.customer_id, s.at, s.new_subscriber,
      s.is_subscriber::int - lag(s.is_subscriber::int, 1, 0) over past as subscriber,
      s.is_paused::int - lag(s.is_paused::int, 1, 0) over past as paused_subscriber,
      s.active + s.paused as live, s.cancelled, s.cancelled_before, s.churned, s.expired, s.actives
    from states s
    window past as (partition by s.customer_id order by s.at)
  )
  select shop, c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired) <> (0, 0, 0, 0, 0, 0, 0, 0)
$$;

-- The same, one row for each fact.
create view subscriber_facts as
select c.shop_id, c.at, v.fact, v.count, v.amount
from subscriber_changes c
cross join lateral (
  values ('new_subscriber', c.new_subscriber, 0), ('subscriber', c.subscriber, 0),
    ('paused_subscriber', c.paused_subscriber, 0), ('live', c.live, 0),
    ('cancelled', c.cancelled, 0), ('cancelled_before', c.cancelled_before, 0),
    ('churned', c.churned, 0), ('expired', c.expired, 0)
  union all
  select a.fact, a.count, a.amount from unnest(c.active) a
) v (fact, count, amount)
where v.count <> 0 or v.amount <> 0;

-- The dunning cases of some subscriptions. In the order of time (payments by id before changes of
-- status where times are equal), a failed payment, unless for lack of stock, opens a case if none is
-- open; a succeeded payment closes it as recovered; becoming cancelled, expired or failed closes it as
-- lost. Every closing event ends one stretch of events, so the case of a stretch is its first failure
-- and the event that ends it.
create function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns table (subscription_id bigint, "position" bigint, opened_at timestamptz,
  closed_at timestamptz, result text)
language sql stable as $$
  with events as (
    select wanted.id as subscription_id, e.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select p.processed_at as at, 0 as rank, p.payment_id as id,
        case when p.status = 'succeeded' then 'recovered' end as closes
      from payments p
      where p.shop_id = shop and p.subscription_id = wanted.id
        and (p.status = 'succeeded'
          or p.status = 'failed' and p.failure_kind is distinct from 'inventory')
      union all
      select s.at, 1, s.position, 'lost' from status_events s
      where s.shop_id = shop and s.subscription_id = wanted.id
        and s.to_status in ('cancelled', 'expired', 'failed')
      offset 0
    ) e
  ),
  stretches as (
    select *, count(closes) over (
        partition by subscription_id order by at, rank, id
        rows between unbounded preceding and 1 preceding
      ) as stretch
    from events
  )
  select subscription_id, stretch, min(at) filter (where closes is null),
    min(at) filter (where closes is not null), min(closes)
  from stretches
  group by subscription_id, stretch
  having count(*) filter (where closes is null) > 0
$$;

create function failed_cycles_of(shop bigint, subscription_ids bigint[])
returns table (subscription_id bigint, cycle text, failed_at timestamptz, is_last boolean)
language sql stable as $$
  select p.subscription_id, p.cycle, max(p.processed_at),
    max(p.processed_at) = max(max(p.processed_at)) over (partition by p.subscription_id, p.cycle)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from payments
    where shop_id = shop and subscription_id = wanted.id
      and status = 'failed' and failure_kind is distinct from 'inventory'
    offset 0
  ) p
  group by p.subscription_id, p.cycle, metric_day(p.processed_at)
$$;

create function refresh_subscribers(shop bigint, customer_ids bigint[])
returns void language plpgsql as $$
begin
  if cardinality(customer_ids) = 0 then return; end if;
  with changes as materialized (
    select * from subscriber_changes_of(shop, customer_ids)
  ),
  gone as (
    delete from subscriber_changes s
    where s.shop_id = shop and s.customer_id = any (customer_ids)
      and (s.customer_id, s.at) not in (select c.customer_id, c.at from changes c)
  )
  insert into subscriber_changes
  select c.* from changes c
  left join lateral (
    select s as stored from subscriber_changes s
    where s.shop_id = shop and s.customer_id = c.customer_id and s.at = c.at limit 1
  ) s on true
  where s.stored is distinct from row(c.*)::subscriber_changes
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active;
end $$;

create function refresh_dunning(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  -- Most subscriptions never failed to pay: nothing more is read of them. One that is being deleted
  -- has no cases.
  touched bigint[] := array(
    select wanted.id from unnest(subscription_ids) wanted (id)
    left join lateral (
      select true as failed from payments
      where shop_id = shop and subscription_id = wanted.id
        and status = 'failed' and failure_kind is distinct from 'inventory'
      limit 1
    ) payment on true
    left join lateral (
      select true as held from subscriptions
      where shop_id = shop and subscription_id = wanted.id limit 1
    ) subscription on payment.failed
    left join lateral (
      select true as stored from dunning_cases
      where shop_id = shop and subscription_id = wanted.id limit 1
    ) cases on true
    where held or stored
  );
begin
  if cardinality(touched) = 0 then return; end if;
  with cases as materialized (
    select c.* from dunning_cases_of(shop, touched) c
    cross join lateral (
      select from subscriptions
      where shop_id = shop and subscription_id = c.subscription_id limit 1
    ) held
  ),
  gone as (
    delete from dunning_cases d
    where d.shop_id = shop and d.subscription_id = any (touched)
      and (d.subscription_id, d.position) not in (select c.subscription_id, c.position from cases c)
  )
  insert into dunning_cases (shop_id, subscription_id, position, opened_at, closed_at, result)
  select shop, c.subscription_id, c.position, c.opened_at, c.closed_at, c.result
  from cases c
  left join lateral (
    select * from dunning_cases
    where shop_id = shop and subscription_id = c.subscription_id and position = c.position limit 1
  ) d on true
  where (d.opened_at, d.closed_at, d.result)
    is distinct from (c.opened_at, c.closed_at, c.result)
  on conflict (shop_id, subscription_id, position) do update set
    opened_at = excluded.opened_at, closed_at = excluded.closed_at, result = excluded.result;
end $$;

create function refresh_failed_cycles(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  with cycles as materialized (
    select * from failed_cycles_of(shop, subscription_ids)
  ),
  gone as (
    delete from failed_cycles f
    where f.shop_id = shop and f.subscription_id = any (subscription_ids)
      and (f.subscription_id, f.cycle, f.failed_at)
        not in (select c.subscription_id, c.cycle, c.failed_at from cycles c)
  )
  insert into failed_cycles (shop_id, subscription_id, cycle, failed_at, is_last)
  select shop, c.subscription_id, c.cycle, c.failed_at, c.is_last
  from cycles c
  left join lateral (
    select is_last from failed_cycles
    where shop_id = shop and subscription_id = c.subscription_id and cycle = c.cycle
      and failed_at = c.failed_at
    limit 1
  ) f on true
  where f.is_last is distinct from c.is_last
  on conflict (shop_id, subscription_id, cycle, failed_at) do update set is_last = excluded.is_last;
end $$;

-- All facts of a shop, those of subscribers, cases and cycles as they are stored.
create function metric_facts_of(shop bigint) returns setof metric_fact language sql stable as $$
  select shop_id, 'paid', processed_at, 1::bigint, amount
  from payments where shop_id = shop and status = 'succeeded'
  union all
  select shop_id, 'refunded', refunded_at, 1, amount from refunds where shop_id = shop
  union all
  select shop_id, 'session_' || coalesce(outcome, 'open'), created_at, 1, 0
  from cancellation_sessions where shop_id = shop
  union all
  select shop_id, 'renewal', next_billing_at, 1, current_price
  from subscriptions where shop_id = shop and status = 'active' and next_billing_at is not null
  union all
  select shop_id, fact, at, count::bigint, amount from subscriber_facts where shop_id = shop
  union all
  select shop_id, case when is_last then 'cycle_failed' else 'cycle_failed_before' end, failed_at,
    1, 0
  from failed_cycles where shop_id = shop
  union all
  select d.shop_id, v.fact, v.at, v.count, 0
  from dunning_cases d
  cross join lateral (values
    ('dunning_open', d.opened_at, 1), ('dunning_open', d.closed_at, -1),
    ('dunning_' || d.result, d.closed_at, 1)
  ) v (fact, at, count)
  where d.shop_id = shop and v.at is not null
$$;

create function metric_sums_of(shop bigint)
returns table (grain text, bucket timestamptz, fact text, count bigint, amount numeric)
language sql stable as $$
  select b.grain, b.bucket, f.fact, sum(f.count)::bigint, trim_scale(sum(f.amount))
  from metric_shops m
  cross join metric_facts_of(shop) f
  cross join metric_buckets(f.fact, f.at, m.hours_since) b
  where m.shop_id = shop
  group by b.grain, b.bucket, f.fact
  having sum(f.count) <> 0 or sum(f.amount) <> 0
$$;

-- Everything of a shop anew, from its records alone.
create function rebuild_metrics(shop bigint) returns void language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  customer_ids bigint[];
  subscription_ids bigint[];
begin
  perform lock_shops(array[shop]);
  customer_ids := array(
    select distinct s.customer_id from subscriptions s where s.shop_id = shop
  );
  subscription_ids := array(select s.subscription_id from subscriptions s where s.shop_id = shop);
  delete from subscriber_changes where shop_id = shop;
  delete from failed_cycles where shop_id = shop;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_failed_cycles(shop, subscription_ids);
  perform refresh_dunning(shop, subscription_ids);

  delete from metric_ledger where shop_id = shop;
  insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
  select shop, s.* from metric_sums_of(shop) s
  -- As they will be read.
  order by s.grain, s.bucket, s.fact;
end $$;

-- What is there already. Done before the triggers stand, which would do it all a second time.
select rebuild_metrics(shop_id) from shops order by shop_id;

-- Three triggers on a table, for what is inserted, updated and deleted, from one body in which
-- `changes` stands for the rows that came (sign 1) and went (sign -1).
create procedure pg_temp.keep_metrics(watched text, body text) language plpgsql as $keep$
declare
  operation text;
  changes text;
  transition text;
begin
  foreach operation in array array['insert', 'update', 'delete'] loop
    changes := case operation
      when 'insert' then '(select 1 as sign, * from new_rows) changes'
      when 'delete' then '(select -1 as sign, * from old_rows) changes'
      else '(select 1 as sign, * from new_rows union all select -1, * from old_rows) changes'
    end;
    transition := case operation
      when 'insert' then 'new table as new_rows'
      when 'delete' then 'old table as old_rows'
      else 'old table as old_rows new table as new_rows'
    end;
    execute format(
      'create function %I() returns trigger language plpgsql
        set plan_cache_mode = force_generic_plan as %L',
      watched || '_metrics_' || operation,
      replace(
        'declare
          shops bigint[] := array(select distinct shop_id from changes);
          shop bigint;
        begin
          if cardinality(shops) = 0 then return null; end if;
          perform lock_shops(shops);' || body || '
          return null;
        end',
        'from changes', 'from ' || changes
      )
    );
    execute format(
      'create trigger metrics_%s after %s on %I referencing %s for each statement execute function %I()',
      operation, operation, watched, transition, watched || '_metrics_' || operation
    );
  end loop;
end $keep$;

call pg_temp.keep_metrics('payments', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'paid', metric_hour(processed_at), sum(sign), sum(sign * amount))::metric_fact
    from changes where status = 'succeeded'
    group by shop_id, metric_hour(processed_at)
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
    select row(shop_id, 'refunded', metric_hour(refunded_at), sum(sign), sum(sign * amount))::metric_fact
    from changes
    group by shop_id, metric_hour(refunded_at)
  ));
$body$);

call pg_temp.keep_metrics('cancellation_sessions', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'session_' || coalesce(outcome, 'open'), metric_hour(created_at), sum(sign), 0)::metric_fact
    from changes
    group by shop_id, outcome, metric_hour(created_at)
  ));
$body$);

call pg_temp.keep_metrics('subscriptions', $body$
  perform add_to_ledger(array(
    select row(shop_id, 'renewal', metric_hour(next_billing_at), sum(sign), sum(sign * current_price))::metric_fact
    from changes where status = 'active' and next_billing_at is not null
    group by shop_id, metric_hour(next_billing_at)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
  ));
  foreach shop in array shops loop
    -- A change of what is not named here leaves all of a subscriber's facts as they were.
    perform refresh_subscribers(shop, array(
      select distinct customer_id from (
        select customer_id from changes where shop_id = shop
        group by subscription_id, customer_id, plan_id, status, status_since, current_price,
          own_interval_unit, own_interval_count, created_at
        having sum(sign) <> 0
      ) changed
    ));
  end loop;
$body$);

call pg_temp.keep_metrics('status_events', $body$
  foreach shop in array shops loop
    perform refresh_subscribers(shop, array(
      select distinct s.customer_id
      from (select distinct subscription_id from changes where shop_id = shop) changed
      cross join lateral (
        select customer_id from subscriptions
        where shop_id = shop and subscription_id = changed.subscription_id limit 1
      ) s
    ));
    perform refresh_dunning(shop, array(
      select distinct subscription_id from changes
      where shop_id = shop and to_status in ('cancelled', 'expired', 'failed')
    ));
  end loop;
$body$);

-- A plan gives its interval to those of its subscriptions that have none of their own.
call pg_temp.keep_metrics('plans', $body$
  foreach shop in array shops loop
    perform refresh_subscribers(shop, array(
      select distinct s.customer_id
      from (
        select plan_id from changes where shop_id = shop
        group by plan_id, interval_unit, interval_count having sum(sign) <> 0
      ) changed
      join subscriptions s on s.shop_id = shop and s.plan_id = changed.plan_id
        and s.own_interval_unit is null
    ));
  end loop;
$body$);

call pg_temp.keep_metrics('subscriber_changes', $body$
  perform add_to_ledger(array(
    select row(shop_id, v.fact, metric_hour(at), sum(sign * v.count), sum(sign * v.amount))::metric_fact
    from changes
    cross join lateral (
      values ('new_subscriber', new_subscriber, 0), ('subscriber', subscriber, 0),
        ('paused_subscriber', paused_subscriber, 0), ('live', live, 0),
        ('cancelled', cancelled, 0), ('cancelled_before', cancelled_before, 0),
        ('churned', churned, 0), ('expired', expired, 0)
      union all
      select a.fact, a.count, a.amount from unnest(active) a
    ) v (fact, count, amount)
    where v.count <> 0 or v.amount <> 0
    group by shop_id, v.fact, metric_hour(at)
    having sum(sign * v.count) <> 0 or sum(sign * v.amount) <> 0
  ));
$body$);

call pg_temp.keep_metrics('failed_cycles', $body$
  perform add_to_ledger(array(
    select row(shop_id, case when is_last then 'cycle_failed' else 'cycle_failed_before' end, metric_hour(failed_at), sum(sign), 0)::metric_fact
    from changes
    group by shop_id, is_last, metric_hour(failed_at)
  ));
$body$);

call pg_temp.keep_metrics('dunning_cases', $body$
  perform add_to_ledger(array(
    select row(shop_id, fact, metric_hour(at), sum(count), 0)::metric_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from changes where closed_at is not null
    ) facts
    group by shop_id, fact, metric_hour(at)
  ));
$body$);

drop procedure pg_temp.keep_metrics;

-- Emptying a table says nothing of its rows.
create function rebuild_all_metrics() returns trigger language plpgsql as $$
begin
  perform rebuild_metrics(shop_id) from shops order by shop_id;
  return null;
end $$;

do $$
declare
  watched text;
begin
  foreach watched in array array['subscriptions', 'status_events', 'payments', 'refunds',
    'dunning_cases', 'cancellation_sessions', 'subscriber_changes', 'failed_cycles'] loop
    execute format('create trigger metrics_truncate after truncate on %I for each statement
      execute function rebuild_all_metrics()', watched);
  end loop;
end $$;

-- Replaced by payments_paid; last, as nobody can read payments from here to the end.
drop index payments_by_time;
