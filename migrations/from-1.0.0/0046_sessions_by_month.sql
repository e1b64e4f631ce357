-- Cancel-flow sessions are summed by UTC month, told apart by outcome, reason and offer, so that what became of
-- those of a year costs a few sums a month.

-- All writers wait while functions change and sums are filled; readers are not affected.
lock table shops in exclusive mode;

-- `cancel_flow saved too_expensive pause`: the outcome or `open`, the reason, the offer or `none`.
create function session_fact(outcome text, reason text, offer text) returns text language sql immutable as $$
  select 'cancel_flow ' || coalesce(outcome, 'open') || ' ' || reason || ' ' || coalesce(offer, 'none')
$$;

-- What is only summed by month.
create function is_monthly(fact text) returns boolean language sql immutable as $$
  select fact like 'cohort %' or fact like 'cancel_flow %'
$$;

-- Where a fact is summed. Those of history alone need only their day.
create or replace function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when is_monthly(fact) then 'month' when is_state(fact) then 'shift' else 'day' end,
    case when is_monthly(fact) then metric_month(at) else metric_day(at) end
  union all
  select 'all', timestamptz '-infinity' where is_state(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact) and not is_monthly(fact)
    and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

-- The triggers of cancel-flow sessions, from one body in which `changes` stands for the rows
-- that came (sign 1) and went (sign -1).
do $do$
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
      'cancellation_sessions_metrics_' || operation,
      replace($body$
        declare
          shops bigint[] := array(select distinct shop_id from changes order by shop_id);
          shop bigint;
          kept_since timestamptz;
          facts ledger_fact[];
          ids bigint[];
        begin
          foreach shop in array shops loop
            perform lock_shop(shop);
            select hours_since into kept_since from metric_shops where shop_id = shop;
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
          end loop;
          return null;
        end
      $body$, 'from changes', 'from ' || changes)
    );
  end loop;
end $do$;

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
    select v.fact, s.created_at, 1, 0
    from cancellation_sessions s
    cross join lateral (values ('session_' || coalesce(s.outcome, 'open')),
      (session_fact(s.outcome, s.detected_reason, s.offer_type))) v (fact)
    where s.shop_id = shop
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
    insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
    select m.shop_id, 'month', metric_month(s.created_at),
      session_fact(s.outcome, s.detected_reason, s.offer_type), count(*), 0
    from metric_shops m
    join cancellation_sessions s on s.shop_id = m.shop_id
    where m.shop_id = shop
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4;
  end loop;
end $$;
