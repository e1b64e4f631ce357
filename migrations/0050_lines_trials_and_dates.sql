-- Lines with an interval of their own, trials, and changes of status without a date.

alter table subscriptions
  -- Null if it is unknown when it became what `status` says. Then status_events has only what came before, and no fact
  -- that needs the time is derived from the subscription.
  alter column status_since drop not null,
  -- Until then it is worth nothing in MRR.
  add column trial_ends_at timestamptz(3),
  -- The sums of its lines that have an interval of their own, by interval ({"year 1": "120.00"}); null if none has, so
  -- that the value of a subscription is known without reading its lines.
  add column other_intervals jsonb;

-- The billing interval, if it is not the subscription's.
alter table subscription_lines
  add column interval_unit text,
  add column interval_count integer;

-- listMoved: what began to have a value when its trial ended.
create index subscriptions_by_trial_end on subscriptions (shop_id, trial_ends_at) where trial_ends_at is not null;
-- summariseKept: those whose value is not simply their price.
create index subscriptions_saved_otherwise on subscriptions (shop_id, saved_at)
  where status = 'active' and saved_at is not null and (other_intervals is not null or trial_ends_at is not null);

alter table subscriber_changes
  -- Numbers of subscriptions that began to be active in their trial, less those that ceased, and their prices.
  add column trial integer not null default 0,
  add column trial_amount numeric not null default 0,
  -- 1 if the customer began to have a subscription that is paused since an unknown time, and neither an active one nor
  -- another paused one; -1 if that ceased.
  add column paused_undated integer not null default 0;

alter type subscriber_change
  add attribute trial integer, add attribute trial_amount numeric, add attribute paused_undated integer;
