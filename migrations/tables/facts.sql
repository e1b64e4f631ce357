-- What follows from the records. The rule of each table stands with its functions, in facts/ and ledger.sql.

-- A row for each shop that has records.
create table metric_shops (
  shop_id bigint primary key references shops on delete cascade,
  -- From when on the shop's facts are summed by minute and hour. Parts of days before that are read fact by fact: only
  -- old periods cost that, and the hours of all the years that a new shop brings need not be written.
  hours_since timestamptz not null
    default date_bin('1 day', now() - interval '40 days', timestamptz 'epoch'),
  -- The transaction that wrote last: the lock of the shop's writers.
  writer xid8
);

-- Sums of nothing have no row.
create table metric_ledger (
  shop_id bigint not null,
  grain text collate "C" not null check (grain in ('minute', 'hour', 'day', 'month', 'shift', 'all')),
  bucket timestamptz not null,
  fact text collate "C" not null,
  count bigint not null,
  amount numeric not null,
  -- summariseMetrics and all figures: a grain's sums in order of time.
  primary key (shop_id, grain, bucket, fact)
) with (fillfactor = 70);

create type ledger_fact as (fact text, at timestamptz, count bigint, amount numeric);

create type active_change as (fact text, count integer, amount numeric);

create table subscriber_changes (
  shop_id bigint not null,
  customer_id bigint not null,
  at timestamptz(3) not null,
  -- 1 if the customer's first subscription began.
  new_subscriber integer not null,
  -- 1 if the customer began to be a subscriber, or a paused subscriber, -1 if they ceased.
  subscriber integer not null,
  paused_subscriber integer not null,
  -- From here on numbers of subscriptions: that began to be live, less those that ceased.
  live integer not null,
  -- That became cancelled, and still are.
  cancelled integer not null,
  -- That were cancelled at the end of this UTC day, but are not any more.
  cancelled_before integer not null,
  -- That were live for the last time, and are now cancelled or failed, or expired.
  churned integer not null,
  expired integer not null,
  -- That began or ceased to be active, with the price, by billing interval and movement (`active month 1 paused`).
  active active_change[] not null,
  -- Of `churned`, those that left for a failed payment.
  churned_failed integer not null default 0,
  -- The customer's cohort, such as 2026-03.
  cohort text,
  primary key (shop_id, customer_id, at)
);

-- summariseMetrics, listMovementDays, listChurnDays: the less than a minute or a day at each end of a period.
create index subscriber_changes_by_time on subscriber_changes (shop_id, at);

-- A row of subscriber_changes, without the shop.
create type subscriber_change as (
  customer_id bigint, at timestamptz, new_subscriber integer, subscriber integer,
  paused_subscriber integer, live integer, cancelled integer, cancelled_before integer,
  churned integer, expired integer, active active_change[], churned_failed integer, cohort text
);

create table departures (
  shop_id bigint not null,
  subscription_id bigint not null,
  left_at timestamptz(3) not null,
  plan_id bigint not null,
  cause text not null check (cause in ('cancelled', 'failed')),
  -- Whole days of 24 hours since the subscription began.
  age_days integer not null,
  primary key (shop_id, subscription_id)
);

-- listChurned, newest first, and listChurnGroups, from the index alone.
create index departures_by_time on departures (shop_id, left_at, subscription_id)
  include (plan_id, cause, age_days);

-- A row of departures, without the shop.
create type departure as (
  subscription_id bigint, left_at timestamptz, plan_id bigint, cause text, age_days integer
);

create table dunning_cases (
  shop_id bigint not null,
  subscription_id bigint not null,
  position integer not null,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  result text check (result in ('recovered', 'lost')),
  -- Of the failed payment that opened the case: what is owed.
  amount numeric,
  -- Of the case's last failed payment.
  failure_code text,
  -- How many payments have failed in the case.
  attempts integer,
  primary key (shop_id, subscription_id, position),
  check ((closed_at is null) = (result is null)),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- summariseMetrics: the cases that opened at the less than a day before its end.
create index dunning_cases_by_opening on dunning_cases (shop_id, opened_at);
-- listOutstanding, listClosed, listOpenCases by age, listClosedCases, from the index alone: the open cases are those
-- that closed at null. summariseMetrics: the cases that closed at the ends of its window.
create index dunning_cases_by_time
  on dunning_cases (shop_id, closed_at, opened_at, subscription_id, position)
  include (result, amount, failure_code, attempts);
-- listOpenCases by amount.
create index dunning_cases_by_amount
  on dunning_cases (shop_id, amount, opened_at, subscription_id, position) where closed_at is null;

-- A row of dunning_cases, without the shop.
create type dunning_case as (
  subscription_id bigint, position integer, opened_at timestamptz, closed_at timestamptz,
  result text, amount numeric, failure_code text, attempts integer
);

create table failed_cycles (
  shop_id bigint not null,
  subscription_id bigint not null,
  cycle text not null,
  failed_at timestamptz(3) not null,
  is_last boolean not null,
  primary key (shop_id, subscription_id, cycle, failed_at)
);

-- summariseMetrics: the less than a minute at each end of its window; listPayments that failed.
create index failed_cycles_by_time on failed_cycles (shop_id, failed_at) include (is_last);

-- A row of failed_cycles, without the shop.
create type failed_cycle as (
  subscription_id bigint, cycle text, failed_at timestamptz, is_last boolean
);

create table superseded_facts (
  shop_id bigint not null,
  subscription_id bigint not null,
  fact text not null,
  -- '' for a status.
  cycle text not null,
  until timestamptz(3) not null,
  since timestamptz(3) not null,
  -- Of a status: when the subscription had ceased to be live. Of a cycle: its first failure on the day of `until`.
  began_at timestamptz(3) not null,
  -- The status to which it left live; '' for a cycle.
  left_as text not null,
  -- The last status of a subscription that never became live again, else ''.
  final text not null,
  -- A number of days, of a few, that is not exceeded from `since` to `until`.
  reach smallint not null,
  primary key (shop_id, subscription_id, fact, cycle, until)
);

-- summariseMetrics, listDays, listChurnDays: what contains an instant, for each reach from the index alone.
create index superseded_facts_by_reach on superseded_facts (shop_id, reach, until)
  include (since, subscription_id, fact, cycle, began_at, left_as, final);

-- A row of superseded_facts, without the shop.
create type superseded_fact as (
  subscription_id bigint, fact text, cycle text, until timestamptz, since timestamptz, began_at timestamptz,
  left_as text, final text, reach smallint
);
