-- What explains a change, as fast in a shop of a million subscriptions. A later migration, which has the functions, fills
-- the sums.

-- countByValue: what became something else after an instant, and what it was told apart by, from the index alone.
create index subscriptions_by_change on subscriptions (shop_id, status_since)
  include (subscription_id, created_at, status, plan_id, own_interval_unit, own_interval_count, current_price,
    trial_ends_at, feed);
-- summariseMetrics, summariseKept, listMoved, listCounted: what changed in an interval; countByValue, from the index alone.
create index status_events_of_time on status_events (shop_id, at) include (subscription_id, from_status, to_status);
drop index status_events_by_time;
alter index status_events_of_time rename to status_events_by_time;

-- Facts that only say what holds now.
alter table metric_ledger drop constraint metric_ledger_grain_check;
alter table metric_ledger add constraint metric_ledger_grain_check
  check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all', 'present'));
