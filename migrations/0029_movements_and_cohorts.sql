-- What MRR movements, cohorts and churn by cause need is added here, and summed as soon as there is any; 0030
-- writes and fills it.

-- Nobody writes while tables and triggers change. The locks that keep readers out are held for a moment.
lock table shops in exclusive mode;

-- Of churned subscriptions, those that left for a failed payment.
alter table subscriber_changes add column churned_failed integer not null default 0;
-- The UTC month of the customer's first subscription, such as 2026-03.
alter table subscriber_changes add column cohort text;

-- What happened to a cohort is summed by UTC month.
alter table metric_ledger drop constraint metric_ledger_grain_check;
alter table metric_ledger add constraint metric_ledger_grain_check
  check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all')) not valid;

-- `month 1`, of `active month 1 paused`.
create function interval_of_fact(fact text) returns text language sql immutable as $$
  select split_part(fact, ' ', 2) || ' ' || split_part(fact, ' ', 3)
$$;

-- One row for each fact. A customer is retained while an active or a paused subscriber.
create or replace view subscriber_facts as
select c.shop_id, c.at, v.fact, v.count, v.amount
from subscriber_changes c
cross join lateral (
  values ('new_subscriber', c.new_subscriber, 0), ('subscriber', c.subscriber, 0),
    ('paused_subscriber', c.paused_subscriber, 0), ('live', c.live, 0),
    ('cancelled', c.cancelled, 0), ('cancelled_before', c.cancelled_before, 0),
    ('churned', c.churned, 0), ('churned_failed', c.churned_failed, 0), ('expired', c.expired, 0),
    ('cohort ' || c.cohort || ' customers', c.new_subscriber, 0),
    ('cohort ' || c.cohort || ' retained', c.subscriber + c.paused_subscriber, 0)
  union all
  select a.fact, a.count, a.amount from unnest(c.active) a
  union all
  select 'cohort ' || c.cohort || ' ' || interval_of_fact(a.fact), a.count, a.amount
  from unnest(c.active) a
) v (fact, count, amount)
where v.count <> 0 or v.amount <> 0;

create function metric_month(at timestamptz) returns timestamptz language sql immutable as $$
  select date_trunc('month', at at time zone 'UTC') at time zone 'UTC'
$$;

-- Where a fact is summed. Those of cohorts need only their month, those of history alone their day.
create or replace function metric_buckets(fact text, at timestamptz, hours_since timestamptz)
returns table (grain text, bucket timestamptz) language sql immutable as $$
  select case when fact like 'cohort %' then 'month' when is_state(fact) then 'shift' else 'day' end,
    case when fact like 'cohort %' then metric_month(at) else metric_day(at) end
  union all
  select 'all', timestamptz '-infinity' where is_state(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact) and fact not like 'cohort %'
    and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

-- The triggers of subscriber_changes, as 0019 made them, from one body in which `changes` stands for the rows
-- that came (sign 1) and went (sign -1). Rows that have no cohort are older than this, and are in no sum of one.
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
      'subscriber_changes_metrics_' || operation,
      replace($body$
        declare
          shops bigint[] := array(select distinct shop_id from changes order by shop_id);
          shop bigint;
          kept_since timestamptz;
          facts ledger_fact[];
        begin
          foreach shop in array shops loop
            perform lock_shop(shop);
            select hours_since into kept_since from metric_shops where shop_id = shop;
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
          end loop;
          return null;
        end
      $body$, 'from changes', 'from ' || changes)
    );
  end loop;
end $do$;
