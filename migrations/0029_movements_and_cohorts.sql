-- What MRR movements, cohorts and churn by cause need is added here; 0030 fills it.

-- Nobody writes while tables change. The locks that keep readers out are held for a moment.
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
