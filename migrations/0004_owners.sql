-- Who may see a shop in a browser. Apart from the shops' data, in a schema of its own: e-mail addresses
-- are the only personal data there is, and nothing in `public` refers to them. Owners may belong to
-- several shops, so these tables do not begin with the shop, and are never distributed by it.

create schema owners;

create table owners.accounts (
  owner_id uuid primary key default gen_random_uuid(),
  -- In lower case.
  email text not null unique,
  -- Argon2id in the form of a PHC string; null until the first link was followed.
  password_hash text,
  created_at timestamptz(3) not null
);

-- No foreign key into the shops' data: it may lie on another server.
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
  -- SHA-256 of what stands in the link.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  shop_id bigint,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- useLink, endResets; the cascade from accounts
create index links_by_owner on owners.links (owner_id);

create table owners.sessions (
  -- SHA-256 of what the browser holds.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);

-- endSessions; the cascade from accounts
create index sessions_by_owner on owners.sessions (owner_id);

-- Passwords that were tried and not, or not yet, found right.
create table owners.attempts (
  attempt_id uuid primary key default gen_random_uuid(),
  -- SHA-256 of what is counted: an e-mail address, or a network address.
  subject bytea not null check (octet_length(subject) = 32),
  at timestamptz(3) not null
);

-- countAttempts, and forgetting those that no longer count
create index attempts_by_subject on owners.attempts (subject, at);
create index attempts_by_time on owners.attempts (at);
