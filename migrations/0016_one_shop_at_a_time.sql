-- Everything that keeps the metrics now names its shop in each statement, writes in statements of their own
-- (no insert inside `with`), and finds rows by key alone. So the same SQL runs on one server, on the embedded
-- database, and on a cluster that distributes its tables by shop.

-- Each look-up asks for the order of the one index that must serve it, in a form that equality would not
-- have: so the plan is right for any statistics, even those of an empty table
-- (docs/decisions/0032-plans.md).

-- Nobody writes while functions change; whoever only reads feels nothing.
lock table shops in exclusive mode;

-- The transaction that wrote last: the lock of a shop's writers.
alter table metric_shops add column writer xid8;

drop function metric_sums_of(bigint);
drop function metric_facts_of(bigint);
drop function add_to_ledger(metric_fact[]);
drop function subscriber_changes_of(bigint, bigint[]);
drop function dunning_cases_of(bigint, bigint[]);
drop function failed_cycles_of(bigint, bigint[]);
drop type metric_fact;

create type metric_fact as (fact text, at timestamptz, count bigint, amount numeric);

-- Rows of the tables of these names, without the shop.
create type subscriber_change as (
  customer_id bigint, at timestamptz, new_subscriber integer, subscriber integer,
  paused_subscriber integer, live integer, cancelled integer, cancelled_before integer,
  churned integer, expired integer, active active_change[]
);
create type dunning_case as (
  subscription_id bigint, "position" integer, opened_at timestamptz, closed_at timestamptz, result text
);
create type failed_cycle as (
  subscription_id bigint, cycle text, failed_at timestamptz, is_last boolean
);

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
create function add_to_ledger(shop bigint, facts metric_fact[]) returns void language plpgsql as $$
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

-- The changes of some customers, from their subscriptions.
create function subscriber_changes_of(shop bigint, customer_ids bigint[])
returns setof subscriber_change language plpgsql stable as $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at,
      s.current_price, 'active ' || coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as active
    from unnest(customer_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and customer_id between wanted.id and wanted.id
      order by customer_id offset 0
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
      order by position offset 0
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
  select c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired) <> (0, 0, 0, 0, 0, 0, 0, 0);
end $$;

-- The dunning cases of some subscriptions: see 0012.
create function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns setof dunning_case language plpgsql stable as $$
begin
  return query
  with paid as (
    select p.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
    ) p
    where p.status <> 'failed' or p.failure_kind is distinct from 'inventory'
  ),
  changed as (
    select s.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) s
  ),
  events as (
    select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id,
      'recovered' as closes
    from paid p where p.status = 'succeeded'
    union all
    select p.subscription_id, p.processed_at, 0, p.payment_id, null
    from paid p
    left join lateral (
      select s.to_status
      from (
        select * from status_events
        where shop_id = shop and subscription_id = p.subscription_id
        order by position desc offset 0
      ) s
      where s.at < p.processed_at limit 1
    ) by_then on true
    where p.status = 'failed'
      and (by_then.to_status in ('cancelled', 'expired', 'failed')) is not true
    union all
    select s.subscription_id, s.at, 1, s.position, 'lost'
    from changed s where s.to_status in ('cancelled', 'expired', 'failed')
  ),
  stretches as (
    select e.*, count(e.closes) over (
        partition by e.subscription_id order by e.at, e.rank, e.id
        rows between unbounded preceding and 1 preceding
      ) as stretch
    from events e
  )
  select s.subscription_id, s.stretch::integer, min(s.at) filter (where s.closes is null),
    min(s.at) filter (where s.closes is not null), min(s.closes)
  from stretches s
  group by s.subscription_id, s.stretch
  having count(*) filter (where s.closes is null) > 0;
end $$;

create function failed_cycles_of(shop bigint, subscription_ids bigint[])
returns setof failed_cycle language plpgsql stable as $$
begin
  return query
  select p.subscription_id, p.cycle, max(p.processed_at),
    max(p.processed_at) = max(max(p.processed_at)) over (partition by p.subscription_id, p.cycle)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
  ) p
  where p.status = 'failed' and p.failure_kind is distinct from 'inventory'
  group by p.subscription_id, p.cycle, metric_day(p.processed_at);
end $$;

create or replace function refresh_subscribers(shop bigint, customer_ids bigint[])
returns void language plpgsql as $$
declare
  changes subscriber_change[];
  outdated bigint[];
begin
  if cardinality(customer_ids) = 0 then return; end if;
  changes := array(select c from subscriber_changes_of(shop, customer_ids) c);

  select array_agg(distinct s.customer_id) into outdated
  from unnest(customer_ids) wanted (id)
  cross join lateral (
    select customer_id, at from subscriber_changes
    where shop_id = shop and customer_id between wanted.id and wanted.id
    order by customer_id offset 0
  ) s
  where (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
  if outdated is not null then
    delete from subscriber_changes s
    where s.shop_id = shop and s.customer_id = any (outdated)
      and (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
  end if;

  insert into subscriber_changes (shop_id, customer_id, at, new_subscriber, subscriber,
    paused_subscriber, live, cancelled, cancelled_before, churned, expired, active)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(changes) c
  left join lateral (
    select * from subscriber_changes
    where shop_id = shop and customer_id between c.customer_id and c.customer_id
    order by customer_id offset 0
  ) s on s.at = c.at
  where m.shop_id = shop
    and (s.new_subscriber, s.subscriber, s.paused_subscriber, s.live, s.cancelled,
      s.cancelled_before, s.churned, s.expired, s.active)
    is distinct from (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live, c.cancelled,
      c.cancelled_before, c.churned, c.expired, c.active)
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active;
end $$;

create or replace function refresh_dunning(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  held bigint[];
  touched bigint[];
  cases dunning_case[];
  outdated bigint[];
begin
  -- Most subscriptions never failed to pay: nothing more is read of them. One that is being deleted
  -- has no cases.
  select coalesce(array_agg(wanted.id) filter (where subscription.held), '{}'),
    coalesce(array_agg(wanted.id) filter (where subscription.held or cases.stored), '{}')
  into held, touched
  from unnest(subscription_ids) wanted (id)
  left join lateral (
    select true as failed from payments
    where shop_id = shop and subscription_id between wanted.id and wanted.id
      and status = 'failed' and failure_kind is distinct from 'inventory'
    order by subscription_id limit 1
  ) payment on true
  left join lateral (
    select true as held from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) subscription on payment.failed
  left join lateral (
    select true as stored from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position limit 1
  ) cases on true;
  if cardinality(touched) = 0 then return; end if;
  cases := array(select c from dunning_cases_of(shop, held) c);

  select array_agg(distinct d.subscription_id) into outdated
  from unnest(touched) wanted (id)
  cross join lateral (
    select subscription_id, position from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position offset 0
  ) d
  where (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  if outdated is not null then
    delete from dunning_cases d
    where d.shop_id = shop and d.subscription_id = any (outdated)
      and (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  end if;

  insert into dunning_cases (shop_id, subscription_id, position, opened_at, closed_at, result)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cases) c
  left join lateral (
    select * from dunning_cases
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
      and position = c.position
    order by subscription_id limit 1
  ) d on true
  where m.shop_id = shop
    and (d.opened_at, d.closed_at, d.result) is distinct from (c.opened_at, c.closed_at, c.result)
  on conflict (shop_id, subscription_id, position) do update set
    opened_at = excluded.opened_at, closed_at = excluded.closed_at, result = excluded.result;
end $$;

create or replace function refresh_failed_cycles(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  cycles failed_cycle[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  cycles := array(select c from failed_cycles_of(shop, subscription_ids) c);

  select array_agg(distinct f.subscription_id) into outdated
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select subscription_id, cycle, failed_at from failed_cycles
    where shop_id = shop and subscription_id = wanted.id order by cycle, failed_at offset 0
  ) f
  where (f.subscription_id, f.cycle, f.failed_at)
    not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  if outdated is not null then
    delete from failed_cycles f
    where f.shop_id = shop and f.subscription_id = any (outdated)
      and (f.subscription_id, f.cycle, f.failed_at)
        not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  end if;

  insert into failed_cycles (shop_id, subscription_id, cycle, failed_at, is_last)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cycles) c
  left join lateral (
    select * from failed_cycles
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
    order by subscription_id offset 0
  ) f on f.cycle = c.cycle and f.failed_at = c.failed_at
  where m.shop_id = shop and f.is_last is distinct from c.is_last
  on conflict (shop_id, subscription_id, cycle, failed_at) do update set is_last = excluded.is_last;
end $$;

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

-- Three triggers on a table, for what is inserted, updated and deleted, from one body in which `changes`
-- stands for the rows that came (sign 1) and went (sign -1). Facts are summed as finely as they are kept, so
-- that a statement about years hands over days.
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
          facts metric_fact[];
          ids bigint[];
          customer_ids bigint[];
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

call pg_temp.keep_metrics('payments', $body$
  facts := array(
    select row('paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::metric_fact
    from changes where shop_id = shop and status = 'succeeded'
    group by metric_floor(processed_at, kept_since)
    having sum(sign) <> 0 or sum(sign * amount) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from changes
    where shop_id = shop and status = 'failed' and failure_kind is distinct from 'inventory'
  );
  perform refresh_failed_cycles(shop, ids);
  ids := array(
    select distinct subscription_id from changes
    where shop_id = shop and (status = 'succeeded'
      or status = 'failed' and failure_kind is distinct from 'inventory')
  );
  perform refresh_dunning(shop, ids);
$body$);

call pg_temp.keep_metrics('refunds', $body$
  facts := array(
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::metric_fact
    from changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.keep_metrics('cancellation_sessions', $body$
  facts := array(
    select row('session_' || coalesce(outcome, 'open'), metric_floor(created_at, kept_since), sum(sign), 0)::metric_fact
    from changes where shop_id = shop
    group by outcome, metric_floor(created_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

-- A change of what is not named here leaves all of a subscriber's facts as they were. One that is inserted
-- with a history leaves its customer to the trigger of status events: whoever writes it writes those next.
call pg_temp.keep_metrics('subscriptions', $body$
  facts := array(
    select row('renewal', metric_floor(next_billing_at, kept_since), sum(sign), sum(sign * current_price))::metric_fact
    from changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
  );
  perform add_to_ledger(shop, facts);
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

call pg_temp.keep_metrics('status_events', $body$
  ids := array(select distinct subscription_id from changes where shop_id = shop);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) touched (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and subscription_id between touched.id and touched.id
    order by subscription_id limit 1
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_dunning(shop, ids);
$body$);

-- A plan gives its interval to those of its subscriptions that have none of their own.
call pg_temp.keep_metrics('plans', $body$
  ids := array(
    select plan_id from changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
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

-- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
call pg_temp.keep_metrics('subscriber_changes', $body$
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::metric_fact
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
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.keep_metrics('failed_cycles', $body$
  facts := array(
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end, metric_floor(failed_at, kept_since), sum(sign), 0)::metric_fact
    from changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.keep_metrics('dunning_cases', $body$
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), 0)::metric_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from changes where closed_at is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

drop procedure pg_temp.keep_metrics;
drop function lock_shops(bigint[]);
