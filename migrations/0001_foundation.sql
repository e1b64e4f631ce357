-- Every table of a shop's data has shop_id first in its primary key, in every index and in every
-- foreign key, so that one shop's rows lie together and the tables can be distributed by shop.
-- Timestamps are kept to the millisecond, amounts as exact decimals.

create table shops (
  shop_id bigint primary key check (shop_id between 1 and 9007199254740991),
  name text not null,
  tier text not null check (tier in ('free', 'starter', 'growth', 'pro', 'enterprise_plus')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz(3) not null
);

create table api_keys (
  shop_id bigint not null references shops,
  key_id text not null,
  hash bytea not null check (octet_length(hash) = 32),
  last_four text not null,
  name text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (shop_id, key_id)
);

-- findKeyByHash: the one look-up that finds the shop instead of starting from it. Not unique: the
-- hash of 222 random bits needs no constraint, and one across shops could not be distributed.
create index api_keys_by_hash on api_keys (hash);

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
  discount_type text not null
    check (discount_type in ('percentage', 'fixed_amount', 'price', 'none')),
  discount_value numeric not null,
  pricing_summary text not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, plan_id)
);

-- Only their numbers: nothing else about a customer is kept anywhere.
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
  -- Sum of line price times quantity.
  current_price numeric not null,
  -- The billing interval, its own or the plan's.
  own_interval_unit text check (own_interval_unit in ('day', 'week', 'month', 'year')),
  own_interval_count integer check (own_interval_count between 1 and 1000),
  next_billing_at timestamptz(3),
  paid_through_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, subscription_id),
  foreign key (shop_id, customer_id) references customers,
  foreign key (shop_id, plan_id) references plans
);

-- listEntitlements; also finds whether a customer or a plan is still in use.
create index subscriptions_by_customer on subscriptions (shop_id, customer_id, subscription_id);
create index subscriptions_by_plan on subscriptions (shop_id, plan_id);
-- listSubscriptions without and with a status.
create index subscriptions_by_creation on subscriptions (shop_id, created_at, subscription_id);
create index subscriptions_by_status
  on subscriptions (shop_id, status, created_at, subscription_id);

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

-- Changes of status after the beginning (active at created_at), oldest first, none of them from a
-- status to itself, none before created_at.
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

-- summariseMetrics: who was live before the window, and what changed within it.
create index status_events_by_time on status_events (shop_id, at);

create table payments (
  shop_id bigint not null,
  payment_id bigint not null,
  subscription_id bigint not null,
  cycle text not null,
  status text not null check (status in ('succeeded', 'failed', 'pending')),
  failure_kind text check (failure_kind in ('payment', 'inventory')),
  amount numeric not null,
  processed_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, payment_id),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- deriveDunning: the payments of some subscriptions in the order of time.
create index payments_by_subscription on payments (shop_id, subscription_id, processed_at);
-- summariseMetrics: payments of the last 30 days.
create index payments_by_time on payments (shop_id, processed_at);

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

-- The cascade from payments; summariseMetrics.
create index refunds_by_payment on refunds (shop_id, payment_id);
create index refunds_by_time on refunds (shop_id, refunded_at);

-- Derived from payments and status events (see docs/decisions), never imported.
create table dunning_cases (
  shop_id bigint not null,
  subscription_id bigint not null,
  position integer not null,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  result text check (result in ('recovered', 'lost')),
  primary key (shop_id, subscription_id, position),
  check ((closed_at is null) = (result is null)),
  foreign key (shop_id, subscription_id) references subscriptions on delete cascade
);

-- summariseMetrics: cases closed in the last 30 days; open cases.
create index dunning_cases_by_closing on dunning_cases (shop_id, closed_at);

create table cancellation_sessions (
  shop_id bigint not null references shops,
  session_id bigint not null,
  -- Forgotten when the subscription is deleted; the session's outcome stays.
  subscription_id bigint,
  detected_reason text not null,
  offer_type text check (offer_type in ('offer_discount', 'pause', 'swap', 'skip_next')),
  outcome text check (outcome in ('saved', 'cancelled', 'abandoned')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3),
  digest uuid not null,
  primary key (shop_id, session_id)
);

-- listCancellations without and with an outcome; summariseMetrics.
create index cancellation_sessions_by_creation
  on cancellation_sessions (shop_id, created_at, session_id);
create index cancellation_sessions_by_outcome
  on cancellation_sessions (shop_id, outcome, created_at, session_id);
-- Deleting a subscription: which sessions to detach.
create index cancellation_sessions_by_subscription
  on cancellation_sessions (shop_id, subscription_id) where subscription_id is not null;
