-- What was read of a key holds while this does not change (docs/decisions/0016-secrets-and-keys.md).
create table key_generation (
  is_only boolean primary key default true check (is_only),
  value uuid not null default gen_random_uuid(),
  -- The last transaction that changed keys.
  changed_by xid8
);
insert into key_generation default values;

\ir keys.sql

create trigger key_generation_truncate after truncate on api_keys
for each statement execute function note_key_change();

-- Deferred, so that nothing else is waited for while the row is locked.
create constraint trigger key_generation
after insert or delete or update of shop_id, key_id, hash, scopes, expires_at, revoked_at, networks on api_keys
deferrable initially deferred for each row execute function note_key_change();

create constraint trigger key_generation
after delete or update of tier, currency on shops
deferrable initially deferred for each row execute function note_key_change();
