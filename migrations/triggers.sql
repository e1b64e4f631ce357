-- When facts and the ledger are computed again: after each statement that changes a table.

-- From records to facts and the ledger.

call pg_temp.watch('payments', $body$
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

call pg_temp.watch('refunds', $body$
  facts := array(
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.watch('cancellation_sessions', $body$
  facts := array(
    select row(fact, at, sum(sign), 0)::ledger_fact
    from (
      select shop_id, sign, 'session_' || coalesce(outcome, 'open') as fact,
        metric_floor(created_at, kept_since) as at
      from changes
      union all
      select shop_id, sign, session_fact(outcome, detected_reason, offer_type),
        metric_month(created_at)
      from changes
    ) facts
    where shop_id = shop
    group by fact, at
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from changes
    where shop_id = shop and outcome = 'saved' and subscription_id is not null
  );
  perform refresh_saved(shop, ids);
$body$, 'kept_since timestamptz; facts ledger_fact[]; ids bigint[];');

-- Renewals are summed as a whole, and by billing interval (`due month 1`). Plans are looked up for sums, not for changed
-- rows, which a cluster cannot read beside a table.
--
-- A change of what the last statement does not name leaves all of a subscriber's facts as they were. A subscription that
-- is inserted with a history leaves its customer to the trigger of status events, which are written next, unless it
-- may have none because their dates are unknown.
call pg_temp.watch('subscriptions', $body$
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(other),
    array_agg(at), array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, others, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, null as other,
      metric_floor(next_billing_at, kept_since) as at, sum(sign) as count, sum(sign * current_price) as amount
    from changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
    union all
    -- Of other lines, which are not billed then.
    select plan_id, own_interval_unit, own_interval_count, o.key,
      metric_floor(next_billing_at, kept_since), 0, -sum(sign * o.value::numeric)
    from changes cross join lateral jsonb_each_text(other_intervals) o
    where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, o.key, metric_floor(next_billing_at, kept_since)
  ) renewing;
  facts := array(
    select row(v.fact, c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, others, times, counts, amounts)
      c (plan_id, unit, cycles, other, at, count, amount)
    cross join lateral (
      select coalesce(c.unit, interval_unit) || ' ' || coalesce(c.cycles, interval_count) as billed from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || p.billed)) v (fact)
    where c.other is distinct from p.billed
    group by v.fact, c.at
    having sum(c.count) <> 0 or sum(c.amount) <> 0
  );
  -- Not in one statement: a cluster cannot read its tables together with `changes`.
  facts := facts || array(
    select row(present_fact(status, plan_id, current_price, own_interval_unit, own_interval_count, feed),
      timestamptz '-infinity', sum(sign), sum(sign * current_price))::ledger_fact
    from changes where shop_id = shop and status in ('active', 'paused') and status_since is not null
    group by status, plan_id, current_price, own_interval_unit, own_interval_count, feed
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  if tg_op <> 'UPDATE' then
    ids := array(select subscription_id from changes where shop_id = shop);
    perform refresh_subscription_values(shop, ids);
    if tg_op = 'INSERT' then perform refresh_saved(shop, ids); end if;
    ids := array(select subscription_id from changes where shop_id = shop and past_values is not null);
    perform refresh_price_changes(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at or status_since is null)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);
$body$, 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; others text[]; times timestamptz[]; counts bigint[]; amounts numeric[];');

-- A subscription that is inserted gets its events next, and one that is deleted loses them.
call pg_temp.watch('subscriptions', $body$
  ids := array(
    select distinct subscription_id from (
      select subscription_id from changes where shop_id = shop
      group by subscription_id, plan_id, created_at, status, status_since is null, current_price,
        own_interval_unit, own_interval_count, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);
  perform refresh_subscription_values(shop, ids);
  -- Nothing else follows from one whose status has no date.
  ids := array(
    select distinct subscription_id from (
      select subscription_id from changes where shop_id = shop
      group by subscription_id, status_since is null having sum(sign) <> 0
    ) changed
  );
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);
$body$, 'ids bigint[];', 'departures', '{update}');

call pg_temp.watch('status_events', $body$
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
  perform refresh_superseded_facts(shop, ids);
$body$, 'ids bigint[]; customer_ids bigint[];');

call pg_temp.watch('status_events', $body$
  ids := array(
    select distinct subscription_id from (
      select subscription_id from changes where shop_id = shop
      group by subscription_id, "position", at, from_status, to_status having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);
$body$, 'ids bigint[];', 'departures');

-- A plan gives its interval to those of its subscriptions that have none of their own.
call pg_temp.watch('plans', $body$
  ids := array(
    select plan_id from changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row(v.fact, metric_floor(s.next_billing_at, kept_since), sum(c.sign), sum(c.sign * s.price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at,
        price_at(current_price, other_intervals, c.unit || ' ' || c.cycles) as price
      from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    cross join lateral (values ('renewal'), ('due ' || c.unit || ' ' || c.cycles)) v (fact)
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by v.fact, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}'), coalesce(array_agg(distinct s.subscription_id), '{}'),
    coalesce(array_agg(distinct s.subscription_id) filter (where s.status in ('cancelled', 'failed')), '{}')
  into customer_ids, valued_ids, left_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id, subscription_id, status from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and (own_interval_unit is null or past_values is not null)
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_subscription_values(shop, valued_ids);
  perform refresh_departures(shop, left_ids);
  perform refresh_price_changes(shop, valued_ids);
$body$, 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[]; left_ids bigint[];
  valued_ids bigint[];
  units text[]; cycles integer[]; times timestamptz[]; counts bigint[]; amounts numeric[];');

-- From facts to the ledger.

call pg_temp.watch('subscriber_changes', $body$
  -- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0
      from changes where paused_subscriber <> 0
      union all
      select shop_id, 'paused_undated', at, sign * paused_undated, 0
      from changes where paused_undated <> 0
      union all
      select shop_id, 'trial', at, sign * trial, sign * trial_amount
      from changes where trial <> 0 or trial_amount <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0
      from changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from changes where churned <> 0
      union all
      select shop_id, 'churned_failed', at, sign * churned_failed, 0
      from changes where churned_failed <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from changes cross join lateral unnest(active) a where active <> '{}'
      union all
      select shop_id, 'cohort ' || cohort || ' customers', metric_month(at),
        sign * new_subscriber, 0
      from changes where new_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' retained', metric_month(at),
        sign * (subscriber + paused_subscriber), 0
      from changes where subscriber + paused_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
        sign * a.count, sign * a.amount
      from changes cross join lateral unnest(active) a
      where active <> '{}' and cohort is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);
$body$, 'kept_since timestamptz; facts ledger_fact[];');

call pg_temp.watch('failed_cycles', $body$
  facts := array(
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end,
      metric_floor(failed_at, kept_since), sum(sign), 0)::ledger_fact
    from changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);
$body$);

call pg_temp.watch('dunning_cases', $body$
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

call pg_temp.watch('price_changes', $body$
  facts := array(
    select row(f.fact, metric_day(at), sum(sign * f.count), sum(sign * f.amount))::ledger_fact
    from changes cross join lateral price_facts(plan_id, at, was, became, left_at, lost) f
    where shop_id = shop
    group by f.fact, metric_day(at)
    having sum(sign * f.count) <> 0 or sum(sign * f.amount) <> 0
  );
  perform add_to_ledger(shop, facts);
$body$, 'facts ledger_fact[];');

drop procedure pg_temp.watch;

-- Emptying a table says nothing about its rows.
do $$
declare
  watched text;
begin
  foreach watched in array array['subscriptions', 'status_events', 'payments', 'refunds',
    'dunning_cases', 'cancellation_sessions', 'subscriber_changes', 'failed_cycles', 'price_changes'] loop
    call pg_temp.create_trigger('metrics_truncate', watched,
      'after truncate on %I for each statement execute function rebuild_all_metrics()');
  end loop;
end $$;

-- Whatever deletes a record deletes its source id, and the date of its export.
create or replace function delete_source_ids() returns trigger language plpgsql as $$
declare
  shop bigint;
  ids bigint[];
begin
  if moves_rows() then return null; end if;
  for shop in select distinct shop_id from old_rows loop
    execute format('select array_agg(%I) from old_rows where shop_id = $1', tg_argv[1])
      into ids using shop;
    delete from source_ids where shop_id = shop and kind = tg_argv[0] and id = any (ids);
    delete from export_dates where shop_id = shop and kind = tg_argv[0] and id = any (ids);
  end loop;
  return null;
end $$;

do $$
declare
  deleted text[];
begin
  foreach deleted slice 1 in array array[
    ['plans', 'plan', 'plan_id'], ['subscriptions', 'subscription', 'subscription_id'],
    ['customers', 'customer', 'customer_id'], ['payments', 'payment', 'payment_id'],
    ['refunds', 'refund', 'refund_id'], ['cancellation_sessions', 'cancellation', 'session_id']
  ] loop
    call pg_temp.create_trigger('source_ids', deleted[1], format(
      'after delete on %%I referencing old table as old_rows for each statement
        execute function delete_source_ids(%L, %L)',
      deleted[2], deleted[3]
    ));
  end loop;
end $$;

drop procedure pg_temp.create_trigger;
