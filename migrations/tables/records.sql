-- The business data of a shop: what imports, pushes and syncs store, and all that the figures follow from.
--
-- In every table of a shop's data, the primary key, each foreign key and each index begin with shop_id, so that one
-- shop's rows lie together and the tables can be distributed by shop. Timestamps are kept to the millisecond, amounts
-- as exact decimals. `digest` is a hash of a record's fields, to recognise records that have not changed.

create table shops (
  shop_id bigint primary key check (shop_id between 1 and 9007199254740991),
  name text not null,
  tier text not null check (tier in ('free', 'starter', 'growth', 'pro', 'enterprise_plus')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz(3) not null
);

create table plans (
  shop_id bigint not null references shops,
  plan_id bigint not null,
  name text not null,
  group_name text not null,
  plan_type text not null check (plan_type in ('subscription', 'prepaid', 'membership', 'other')),
  interval_unit text not null check (interval_unit in ('day', 'week', 'month', 'year')),
  interval_count integer not null check (interval_count between 1 and 1000),
  active boolean not null,
  product_count integer not null,
  discount_type text not null check (discount_type in ('percentage', 'fixed_amount', 'price', 'none')),
  discount_value numeric not null,
  pricing_summary text not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, plan_id)
);

-- Only ids: nothing else about a customer is stored anywhere.
create table customers (
  shop_id bigint not null references shops,
  customer_id bigint not null,
  primary key (shop_id, customer_id)
);

create table subscriptions (
  shop_id bigint not null,
  subscription_id bigint not null,
  customer_id bigint not null,
  plan_id bigint not null,
  status text not null check (status in ('active', 'paused', 'cancelled', 'expired', 'failed')),
  -- When it became what `status` says: the time of its last status event, else created_at.
  status_since timestamptz(3) not null,
  -- The sum of line price times quantity.
  current_price numeric not null,
  -- The billing interval, if it is not the plan's.
  own_interval_unit text check (own_interval_unit in ('day', 'week', 'month', 'year')),
  own_interval_count integer check (own_interval_count between 1 and 1000),
  next_billing_at timestamptz(3),
  paid_through_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  -- What a platform said its payments paid for, as [[payment, end in epoch milliseconds], ...], the end null if the
  -- payment was taken back; null for subscriptions of which no platform reports it.
  paid_periods jsonb,
  -- When the last cancel-flow session that saved it began: derived, see facts/saves.sql.
  saved_at timestamptz(3),
  primary key (shop_id, subscription_id),
  foreign key (shop_id, customer_id) references customers,
  foreign key (shop_id, plan_id) references plans
);

-- listEntitlements, listSubscriptionsOfCustomer, subscriber_changes_of; deleteIdleCustomers: is a customer in use?
create index subscriptions_by_customer on subscriptions (shop_id, customer_id, subscription_id);
-- subscriptionsOf with a plan; deleting a plan: is it in use?
create index subscriptions_by_plan on subscriptions (shop_id, plan_id);
-- listSubscriptions without a status; listMoved and summariseMetrics: what began after an instant.
create index subscriptions_by_creation on subscriptions (shop_id, created_at, subscription_id);
-- listSubscriptions and subscriptionsOf with a status.
create index subscriptions_by_status on subscriptions (shop_id, status, created_at, subscription_id);
-- summariseMetrics, projectRenewals, listRenewing: what renews when, and for how much.
create index subscriptions_renewing on subscriptions (shop_id, next_billing_at) include (current_price)
  where status = 'active';
-- summariseKept: the active subscriptions by when they were saved, from the index alone.
create index subscriptions_saved on subscriptions (shop_id, saved_at)
  include (plan_id, own_interval_unit, own_interval_count, current_price)
  where status = 'active' and saved_at is not null;

create table subscription_lines (
  shop_id bigint not null,
  subscription_id bigint not null,
  line_id bigint not null,
  -- The place in the source's list.
  position smallint not null,
  product_id bigint not null,
  product_title text not null,
  variant_id bigint not null,
  variant_title text not null,
  quantity integer not null,
  current_price numeric not null,
  primary key (shop_id, subscription_id, line_id),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- subscriptionsOf with a product; listProducts: which products there are.
create index subscription_lines_by_product on subscription_lines (shop_id, product_id);

-- Changes of status since the beginning (active at created_at), oldest first: none from a status to itself, none
-- before created_at.
create table status_events (
  shop_id bigint not null,
  subscription_id bigint not null,
  position smallint not null,
  at timestamptz(3) not null,
  from_status text not null,
  to_status text not null,
  primary key (shop_id, subscription_id, position),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- summariseMetrics, summariseKept, listMoved, listCounted: what changed in an interval.
create index status_events_by_time on status_events (shop_id, at);

create table payments (
  shop_id bigint not null,
  payment_id bigint not null,
  subscription_id bigint not null,
  -- The billing cycle, as the source names it.
  cycle text not null,
  status text not null check (status in ('succeeded', 'failed', 'pending')),
  -- `inventory`: not charged for lack of stock.
  failure_kind text check (failure_kind in ('payment', 'inventory')),
  amount numeric not null,
  processed_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  -- Why it failed, as the source says it, such as card_declined.
  failure_code text,
  primary key (shop_id, payment_id),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- findTimeline, dunning_cases_of; the cascade from subscriptions.
create index payments_by_subscription on payments (shop_id, subscription_id, processed_at);
-- summariseMetrics: the less than a minute at each end of its window; listRevenueDays, listPayments.
create index payments_paid on payments (shop_id, processed_at) include (amount) where status = 'succeeded';
-- refresh_dunning: has it ever failed to pay? superseded_facts_of: the failures of its cycles in order.
create index payments_failed on payments (shop_id, subscription_id, cycle, processed_at)
  where status = 'failed' and failure_kind is distinct from 'inventory';

create table refunds (
  shop_id bigint not null,
  refund_id bigint not null,
  payment_id bigint not null,
  amount numeric not null,
  refunded_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, refund_id),
  foreign key (shop_id, payment_id) references payments on delete cascade
);

-- findTimeline; the cascade from payments.
create index refunds_by_payment on refunds (shop_id, payment_id);
-- summariseMetrics, listRevenueDays, listPayments.
create index refunds_by_time on refunds (shop_id, refunded_at);

-- Sessions of the cancel flow.
create table cancellation_sessions (
  shop_id bigint not null references shops,
  session_id bigint not null,
  -- Null once the subscription is deleted; the session's outcome stays.
  subscription_id bigint,
  detected_reason text not null,
  offer_type text check (offer_type in ('offer_discount', 'pause', 'swap', 'skip_next')),
  outcome text check (outcome in ('saved', 'cancelled', 'abandoned')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, session_id)
);

-- listCancellations without an outcome, listSessions; countSessions: an interval's sessions, from the index alone.
create index cancellation_sessions_by_creation on cancellation_sessions (shop_id, created_at, session_id)
  include (detected_reason, offer_type, outcome);
-- listCancellations with an outcome.
create index cancellation_sessions_by_outcome on cancellation_sessions (shop_id, outcome, created_at, session_id);
-- findTimeline, listChurned, refresh_saved; deleting a subscription: which sessions to detach.
create index cancellation_sessions_by_subscription on cancellation_sessions (shop_id, subscription_id)
  where subscription_id is not null;
