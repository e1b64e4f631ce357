-- What an owner wants to be told about a shop by email. No row: nothing.
create table owners.notifications (
  owner_id uuid not null,
  shop_id bigint not null,
  digest boolean not null,
  unusual boolean not null,
  -- Limits of figures; null for none. A rate from 0 to 1, and an amount in the shop's currency.
  max_churn_rate numeric check (max_churn_rate between 0 and 1),
  max_outstanding integer check (max_outstanding >= 0),
  min_mrr numeric check (min_mrr >= 0),
  -- The limits that are exceeded, and were told about.
  exceeded text[] not null default '{}',
  -- In each mail. All that its holder can do is to end the mails.
  unsubscribe_secret text not null unique,
  -- The ends of the last week and the last day that were told about.
  digest_until timestamptz(3) not null,
  alerts_until timestamptz(3) not null,
  -- The process that works on it may until then.
  claimed_until timestamptz(3),
  primary key (owner_id, shop_id),
  foreign key (owner_id, shop_id) references owners.memberships on delete cascade
);
