-- An import spends less on subscribers: the changes of a statement are summed before they are taken apart into
-- facts.

-- All writers wait while functions change; readers are not affected.
lock table shops in exclusive mode;

-- The triggers of subscriber_changes, from one body in which `changes` stands for the rows that came (sign 1) and
-- went (sign -1). Rows that have no cohort are in no sum of one.
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
            -- Summed by time first: taking each row apart into all of its facts costs more than twice as much.
            facts := array(
              select row(f.fact, s.at, f.count, 0)::ledger_fact
              from (
                select metric_floor(at, kept_since) as at, sum(sign * new_subscriber) as new_subscriber,
                  sum(sign * subscriber) as subscriber, sum(sign * paused_subscriber) as paused_subscriber,
                  sum(sign * live) as live, sum(sign * cancelled) as cancelled,
                  sum(sign * cancelled_before) as cancelled_before, sum(sign * churned) as churned,
                  sum(sign * churned_failed) as churned_failed, sum(sign * expired) as expired
                from changes where shop_id = shop
                group by metric_floor(at, kept_since)
              ) s
              cross join lateral (values
                ('new_subscriber', s.new_subscriber), ('subscriber', s.subscriber),
                ('paused_subscriber', s.paused_subscriber), ('live', s.live), ('cancelled', s.cancelled),
                ('cancelled_before', s.cancelled_before), ('churned', s.churned),
                ('churned_failed', s.churned_failed), ('expired', s.expired)
              ) f (fact, count)
              where f.count <> 0
            ) || array(
              select row(a.fact, metric_floor(at, kept_since), sum(sign * a.count), sum(sign * a.amount))::ledger_fact
              from changes cross join lateral unnest(active) a
              where shop_id = shop
              group by a.fact, metric_floor(at, kept_since)
              having sum(sign * a.count) <> 0 or sum(sign * a.amount) <> 0
            ) || array(
              select row('cohort ' || s.cohort || ' ' || f.fact, s.month, f.count, 0)::ledger_fact
              from (
                select cohort, metric_month(at) as month, sum(sign * new_subscriber) as customers,
                  sum(sign * (subscriber + paused_subscriber)) as retained
                from changes where shop_id = shop and cohort is not null
                group by cohort, metric_month(at)
              ) s
              cross join lateral (values ('customers', s.customers), ('retained', s.retained)) f (fact, count)
              where f.count <> 0
            ) || array(
              select row('cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
                sum(sign * a.count), sum(sign * a.amount))::ledger_fact
              from changes cross join lateral unnest(active) a
              where shop_id = shop and cohort is not null
              group by cohort, interval_of_fact(a.fact), metric_month(at)
              having sum(sign * a.count) <> 0 or sum(sign * a.amount) <> 0
            );
            perform add_to_ledger(shop, facts);
          end loop;
          return null;
        end
      $body$, 'from changes', 'from ' || changes)
    );
  end loop;
end $do$;

-- Nothing reads it since the departures are stored.
drop index status_events_leaving;
