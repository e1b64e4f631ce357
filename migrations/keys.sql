-- What is read of keys of any shop, as it is now: the last migration that changes a function includes this file
-- (docs/decisions/0016-secrets-and-keys.md). Everything here has the rights of the tables' owner.

-- Notes that keys, or what their shops' keys may do, have changed. Once a transaction, at its end: the row is locked
-- until the commit, so that generations follow each other as commits do. Random, so that a standby that was promoted, or
-- a restored backup, never has the generation of other keys (docs/decisions/0016-secrets-and-keys.md).
create or replace function note_key_change() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update key_generation set value = gen_random_uuid(), changed_by = pg_current_xact_id()
  where is_only and changed_by is distinct from pg_current_xact_id();
  return null;
end $$;

-- findKeyGeneration
create or replace function find_key_generation() returns uuid
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return (select value from key_generation where is_only);
end $$;

-- listKeysByHash: the keys with these hashes (SHA-256 in base64), and what the gate needs to know of their shops: this
-- finds the shop. Any login may call it, since it says nothing without a key's hash. In a language that keeps its plan: a
-- function in SQL is planned at each call.
create or replace function find_keys(hashes text[]) returns table (key_hash text, record json)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query
  select requested.hash, json_build_object('shopId', k.shop_id, 'keyId', k.key_id, 'scopes', k.scopes,
    'tier', s.tier, 'currency', s.currency,
    'expiresAt', (date_part('epoch', k.expires_at) * 1000)::bigint,
    'isRevoked', k.revoked_at is not null, 'networks', k.networks,
    'generation', (select value from key_generation where is_only))
  from unnest(hashes) requested (hash),
    lateral (select * from api_keys where hash = decode(requested.hash, 'base64') offset 0) k,
    lateral (select * from shops where shop_id = k.shop_id offset 0) s;
end $$;
