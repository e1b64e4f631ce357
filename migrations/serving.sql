-- What the login that serves requests may read, as it is now: a migration that adds a column to one of these tables
-- includes this file at its end (docs/decisions/0018-shops-apart.md). Everything here has the rights of the tables' owner.

create schema if not exists served;

-- The shop that a statement is for: a setting that is sent with it. Null without, so that nothing is seen.
create or replace function served.shop_id() returns bigint language sql stable as $$
  select nullif(current_setting('retention.shop_id', true), '')::bigint
$$;

create or replace view served.api_keys as select * from public.api_keys where shop_id = served.shop_id();
create or replace view served.cancellation_sessions as select * from public.cancellation_sessions where shop_id = served.shop_id();
create or replace view served.contacted_cases as select * from public.contacted_cases where shop_id = served.shop_id();
create or replace view served.customer_values as select * from public.customer_values where shop_id = served.shop_id();
create or replace view served.departures as select * from public.departures where shop_id = served.shop_id();
create or replace view served.dunning_cases as select * from public.dunning_cases where shop_id = served.shop_id();
create or replace view served.failed_cycles as select * from public.failed_cycles where shop_id = served.shop_id();
create or replace view served.feeds as select * from public.feeds where shop_id = served.shop_id();
create or replace view served.metric_ledger as select * from public.metric_ledger where shop_id = served.shop_id();
create or replace view served.metric_shops as select * from public.metric_shops where shop_id = served.shop_id();
create or replace view served.payments as select * from public.payments where shop_id = served.shop_id();
create or replace view served.plans as select * from public.plans where shop_id = served.shop_id();
create or replace view served.price_changes as select * from public.price_changes where shop_id = served.shop_id();
create or replace view served.refunds as select * from public.refunds where shop_id = served.shop_id();
create or replace view served.shops as select * from public.shops where shop_id = served.shop_id();
create or replace view served.status_events as select * from public.status_events where shop_id = served.shop_id();
create or replace view served.subscriber_changes as select * from public.subscriber_changes where shop_id = served.shop_id();
create or replace view served.subscriber_facts as select * from public.subscriber_facts where shop_id = served.shop_id();
create or replace view served.subscription_lines as select * from public.subscription_lines where shop_id = served.shop_id();
create or replace view served.subscriptions as select * from public.subscriptions where shop_id = served.shop_id();
create or replace view served.subscription_values as select * from public.subscription_values where shop_id = served.shop_id();
create or replace view served.superseded_facts as select * from public.superseded_facts where shop_id = served.shop_id();

-- listEntitlements: what each of these customers has subscribed to, a pair of shop and id in the two rows of the setting
-- `retention.asked`, by the pair's place. In no order: the form of the look-ups leaves the planner no choice
-- (docs/decisions/0005-plans-and-statements.md).
create or replace view asked_entitlements as
select requested.place, s.subscription_id as "subscriptionId", s.plan_id as "planId", p.name as "planName",
  p.plan_type as "planType", s.status, (date_part('epoch', s.paid_through_at) * 1000)::bigint as "paidThroughAt",
  (date_part('epoch', s.status_since) * 1000)::bigint as "statusSince"
from (select nullif(current_setting('retention.asked', true), '')::bigint[] as pairs offset 0) asked,
  unnest(asked.pairs[1:1], asked.pairs[2:2]) with ordinality requested (shop_id, customer_id, place),
  lateral (select * from subscriptions
    where shop_id = requested.shop_id and customer_id between requested.customer_id and requested.customer_id
    order by customer_id) s,
  lateral (select * from plans where shop_id = s.shop_id and plan_id = s.plan_id order by plan_id) p;
