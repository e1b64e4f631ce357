-- When subscriptions became worth more or less a month, so that a page can say what a price rise did. A later migration,
-- which has the functions, fills it.

create table price_changes (
  shop_id bigint not null,
  subscription_id bigint not null,
  at timestamptz(3) not null,
  -- As it is now.
  plan_id bigint not null,
  -- What it was worth a month before and then, to 12 decimals.
  was numeric not null,
  became numeric not null,
  -- If it left and is not back: when, and what it was worth until then, as departures have it.
  left_at timestamptz(3),
  lost numeric,
  primary key (shop_id, subscription_id, at)
);

-- A row of price_changes, without the shop.
create type price_change as (
  subscription_id bigint, at timestamptz, plan_id bigint, was numeric, became numeric, left_at timestamptz, lost numeric
);

alter table metric_ledger drop constraint metric_ledger_grain_check;
alter table metric_ledger add constraint metric_ledger_grain_check
  check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all', 'present', 'price'));

-- listPriceChanges and sumPriceChanges, from the index alone.
create index price_changes_by_time on price_changes (shop_id, at, subscription_id)
  include (plan_id, was, became, left_at, lost);
