-- Who may see a shop in a browser, in a schema apart from the shops' data: e-mail addresses and names are the only
-- personal data that the service stores, and nothing in `public` refers to them. An owner may have several shops, so
-- these tables do not begin with the shop and are never distributed. They have no foreign keys into the shops' data,
-- which may lie on another server.
create schema owners;

create table owners.accounts (
  owner_id uuid primary key default gen_random_uuid(),
  -- In lower case.
  email text not null unique,
  -- Argon2id as a PHC string; null until the first link was followed.
  password_hash text,
  created_at timestamptz(3) not null
);

create table owners.memberships (
  owner_id uuid not null references owners.accounts on delete cascade,
  shop_id bigint not null,
  created_at timestamptz(3) not null,
  primary key (owner_id, shop_id)
);

-- listOwners
create index memberships_by_shop on owners.memberships (shop_id, owner_id);

-- One-time links. An invitation adds a shop; a reset, which names no shop, replaces the password.
create table owners.links (
  -- SHA-256 of the token in the link.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  shop_id bigint,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- invalidateResetLinks; the cascade from accounts.
create index links_by_owner on owners.links (owner_id);

create table owners.sessions (
  -- SHA-256 of the browser's token.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);

-- deleteSessions; the cascade from accounts.
create index sessions_by_owner on owners.sessions (owner_id);

-- Sign-ins that failed or are not checked yet. They count by account and address together, then by each alone.
create table owners.attempts (
  attempt_id uuid primary key default gen_random_uuid(),
  at timestamptz(3) not null,
  -- SHA-256 of an e-mail address, and of a network address.
  account bytea check (octet_length(account) = 32),
  address bytea check (octet_length(address) = 32)
);

-- countAttempts, clearAttempts
create index attempts_by_account on owners.attempts (account, at);
-- countAttempts
create index attempts_by_address on owners.attempts (address, at);
-- deleteAttemptsBefore
create index attempts_by_time on owners.attempts (at);

-- Browsers in which an owner has signed in: what others try does not hold them up. A browser has one token, whichever
-- owners it is for.
create table owners.devices (
  -- SHA-256 of the browser's token.
  token_hash bytea not null check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  signed_in_at timestamptz(3) not null,
  -- Wrong passwords from this browser since then.
  failures integer not null default 0,
  primary key (token_hash, owner_id)
);

-- deleteDevices; the cascade from accounts.
create index devices_by_owner on owners.devices (owner_id);

-- Who created, rotated and revoked a shop's keys. It outlives accounts: then it is unknown who it was.
create table owners.log (
  entry_id uuid primary key default gen_random_uuid(),
  shop_id bigint not null,
  at timestamptz(3) not null,
  -- Null for the command line.
  owner_id uuid,
  action text not null,
  key_id text not null,
  -- The key's name at that time.
  key_name text not null
);

-- What listEntries does since 0066_audit_log.sql, which moves the log.
create index log_by_shop on owners.log (shop_id, at, entry_id);

-- Conditions that a shop's owners saved under a name.
create table owners.segments (
  shop_id bigint not null,
  name text not null check (char_length(name) between 1 and 80),
  -- As in addresses, such as plan=11&status=active.
  query text not null,
  -- listSegments
  primary key (shop_id, name)
);

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
  -- The exceeded limits that the owner was told about.
  exceeded text[] not null default '{}',
  -- In each mail. All that its holder can do is to end the mails.
  unsubscribe_secret text not null unique,
  -- The ends of the last week and the last day that the owner was told about.
  digest_until timestamptz(3) not null,
  alerts_until timestamptz(3) not null,
  -- A process works on it, until then at the latest.
  claimed_until timestamptz(3),
  primary key (owner_id, shop_id),
  foreign key (owner_id, shop_id) references owners.memberships on delete cascade
);

-- Where the service was last reached, for the links that commands print: a command does not know the port of a server
-- that was started with other settings.
create table owners.service_address (
  is_only boolean primary key default true check (is_only),
  url text not null
);
