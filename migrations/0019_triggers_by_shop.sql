-- Nobody writes while functions change; readers are not affected.
lock table shops in exclusive mode;

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
          facts ledger_fact[];
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
    select row('paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
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
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.keep_metrics('cancellation_sessions', $body$
  facts := array(
    select row('session_' || coalesce(outcome, 'open'), metric_floor(created_at, kept_since), sum(sign), 0)::ledger_fact
    from changes where shop_id = shop
    group by outcome, metric_floor(created_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

-- A change of what is not named here leaves all of a subscriber's facts as they were. One that is inserted
-- with a history leaves its customer to the trigger of status events, which are written next.
call pg_temp.keep_metrics('subscriptions', $body$
  facts := array(
    select row('renewal', metric_floor(next_billing_at, kept_since), sum(sign), sum(sign * current_price))::ledger_fact
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
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
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
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end, metric_floor(failed_at, kept_since), sum(sign), 0)::ledger_fact
    from changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.keep_metrics('dunning_cases', $body$
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), 0)::ledger_fact
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
drop function add_to_ledger(metric_fact[]);
drop type metric_fact;
