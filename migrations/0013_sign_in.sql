-- Failed sign-ins count by account and address together, and a browser in which an owner has signed in
-- before is not held up by what others try.

-- The version before counts by `subject`, and leaves the two new columns null.
alter table owners.attempts
  alter column subject drop not null,
  -- SHA-256 of an e-mail address, and of a network address.
  add column account bytea check (octet_length(account) = 32),
  add column address bytea check (octet_length(address) = 32);

-- countAttempts, clearAttempts
create index attempts_by_account on owners.attempts (account, at);
create index attempts_by_address on owners.attempts (address, at);

-- Browsers in which an owner has signed in. A browser has one token, whichever owners it is for.
create table owners.devices (
  -- SHA-256 of what the browser holds.
  token_hash bytea not null check (octet_length(token_hash) = 32),
  owner_id uuid not null references owners.accounts on delete cascade,
  signed_in_at timestamptz(3) not null,
  -- Wrong passwords from this browser since then.
  failures integer not null default 0,
  primary key (token_hash, owner_id)
);

-- deleteDevices; the cascade from accounts
create index devices_by_owner on owners.devices (owner_id);

-- Links that replace a password now last an hour.
update owners.links set expires_at = least(expires_at, created_at + interval '1 hour')
where shop_id is null;
