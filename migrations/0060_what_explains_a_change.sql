-- What the figures of a shop's subscriptions are broken down by.

alter table subscriptions
  -- Which feed its record came from last; null of one that has not changed since that is stored.
  add column feed text;

-- listSubscriptions and subscriptionsOf with a status; countByValue: all that they are told apart by, from the index alone.
create index subscriptions_told_apart on subscriptions (shop_id, status, created_at, subscription_id)
  include (status_since, plan_id, own_interval_unit, own_interval_count, current_price, trial_ends_at, feed);
drop index subscriptions_by_status;
alter index subscriptions_told_apart rename to subscriptions_by_status;
-- countByValue: those whose value is not simply their price.
create index subscriptions_mixed on subscriptions (shop_id, current_price) where other_intervals is not null;
