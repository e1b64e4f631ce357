-- OpenID Connect issuers that sign people in to a shop, and are trusted for the addresses of one mail domain.
create table owners.sso_providers (
  shop_id bigint primary key,
  issuer text not null,
  client_id text not null,
  -- Encrypted with CREDENTIALS_KEY.
  client_secret text not null,
  -- In lower case.
  domain text not null,
  -- What the domain's DNS must have, and since when it is known to have had it; null if it was not found yet.
  verification text not null,
  verified_at timestamptz(3),
  -- The claim that says which role somebody has, and the values for each role.
  role_claim text,
  roles jsonb not null default '{}',
  -- Of people without such a value; null refuses them.
  default_role text check (default_role in ('owner', 'developer', 'analyst')),
  -- Whether people of the domain can no longer sign in with a password.
  replaces_passwords boolean not null default false
);

-- findSsoProviderByDomain
create unique index sso_providers_by_domain on owners.sso_providers (domain) where verified_at is not null;

-- The issuer that began a session: 0 for the installation's, or the shop that it belongs to; null for a password.
alter table owners.sessions add column sso_provider bigint;

-- The issuer whose answer waits for a second factor.
alter table owners.challenges add column sso_provider bigint;
