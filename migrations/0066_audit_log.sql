-- One log of who did what, in chains: each entry has the hash of the one before (docs/security.md). The log of keys moves
-- into it.

create table audit_entries (
  -- 0 for what concerns no shop. Without a foreign key: what was done outlives the shop that it was done to.
  shop_id bigint not null,
  -- From 1, without gaps.
  number bigint not null,
  at timestamptz(3) not null,
  -- `owner` and the id, `platform` and the name, `command line`, `visitor` (not signed in), or `service`.
  who text not null,
  -- Which of the owner's sessions, which is no secret, or which command.
  session text,
  what text not null,
  target text,
  -- The /24 or /48 that the request came from.
  network text,
  previous bytea not null check (octet_length(previous) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  -- listChain
  primary key (shop_id, number)
);

-- listEntries
create index audit_entries_by_time on audit_entries (shop_id, at, number);

-- The last entry of each chain, and what is counted of entries that strangers cause.
create table audit_heads (
  shop_id bigint primary key,
  number bigint not null,
  hash bytea not null check (octet_length(hash) = 32),
  minute timestamptz(3),
  limited integer not null default 0,
  omitted bigint not null default 0
);

\ir audit.sql

create trigger audit_append_only before update or delete on audit_entries
  for each statement execute function refuse_audit_change();
create trigger audit_no_truncate before truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- Appends an entry of the log of keys.
create function owners.append_key_entry(
  shop bigint, instant timestamptz, owner uuid, act text, key_id text, key_name text
) returns void language plpgsql as $$
begin
  perform append_audit_entry(
    shop,
    instant,
    coalesce('owner ' || owner, case act when 'key_uninstalled' then 'platform' else 'command line' end),
    null,
    act,
    key_id || ' ' || key_name,
    null,
    false
  );
end $$;

-- Writers wait until the entries are copied; readers do not.
lock table owners.log in share row exclusive mode;

do $$
declare
  old record;
begin
  for old in select * from owners.log order by at, entry_id loop
    perform owners.append_key_entry(old.shop_id, old.at, old.owner_id, old.action, old.key_id, old.key_name);
  end loop;
end $$;

drop table owners.log;

-- For instances of the version before, which run beside this one during an upgrade: what they enter goes into the same
-- log. To be dropped once no such instance can run.
create view owners.log as
select number as entry_id, shop_id, at, case when who like 'owner %' then substr(who, 7)::uuid end as owner_id,
  what as action, split_part(target, ' ', 1) as key_id, substr(target, strpos(target, ' ') + 1) as key_name
from audit_entries
where what in ('key_created', 'key_revoked', 'key_rotated', 'key_uninstalled');

create function owners.enter_in_audit_log() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then return old; end if;
  perform owners.append_key_entry(new.shop_id, new.at, new.owner_id, new.action, new.key_id, new.key_name);
  return new;
end $$;

create trigger enter_in_audit_log instead of insert or delete on owners.log
  for each row execute function owners.enter_in_audit_log();
