-- What owners show beside their password, or in its place.
create table owners.factors (
  factor_id uuid primary key default gen_random_uuid(),
  owner_id uuid not null references owners.accounts on delete cascade,
  -- Of a passkey, by its authenticator. Null for an authenticator app.
  credential_id bytea unique check (octet_length(credential_id) between 1 and 1023),
  name text not null check (char_length(name) between 1 and 100),
  -- Of a passkey, its public key (COSE) in base64. Of an app, the secret it shares with us, encrypted by CREDENTIALS_KEY.
  key text not null,
  -- Of a passkey, what its authenticator counted last. Of an app, the last time step whose code was used.
  counter bigint not null default 0,
  created_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- listFactors; the cascade from accounts.
create index factors_by_owner on owners.factors (owner_id, created_at);

create table owners.recovery_codes (
  owner_id uuid not null references owners.accounts on delete cascade,
  -- SHA-256.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  created_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- useRecoveryCode; the cascade from accounts.
  primary key (owner_id, code_hash)
);

-- What a browser answers once and soon: a passkey's challenge, or, with the owner, the second step of signing in.
create table owners.challenges (
  -- SHA-256 of a secret that the browser has.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  owner_id uuid references owners.accounts on delete cascade,
  expires_at timestamptz(3) not null
);

-- deleteChallengesOf; the cascade from accounts.
create index challenges_by_owner on owners.challenges (owner_id);
-- deleteChallengesBefore
create index challenges_by_time on owners.challenges (expires_at);

-- What a shop's owners demand of all its members.
create table owners.shop_policies (
  shop_id bigint primary key,
  requires_second_factor boolean not null
);

-- When the owner last proved who they are; null for sessions made before, and by the version before.
alter table owners.sessions add column proved_at timestamptz(3);
