-- The audit log's functions, as they are now: the last migration that changes one includes this file, as with
-- functions.sql.

-- Appends an entry to the chain of a shop, or of the installation (0). The head's row is the chain's lock, until the
-- transaction ends. Every version of the service appends by this function, so that all compute the same hash: the
-- SHA-256 of the hash before, and the entry as the text of a JSON array (src/accounts/audit/chain.ts computes it, too).
-- Of limited entries, which strangers cause, a chain takes 10 a minute; how many were left out is an entry of its own,
-- once the minute is over. An act of null only says that.
create or replace function append_audit_entry(
  shop bigint, instant timestamptz, actor text, via text, act text, object text, origin text, is_limited boolean
) returns jsonb language plpgsql as $$
declare
  max_limited constant integer := 10;
  exact constant timestamptz(3) := instant;
  this_minute constant timestamptz := metric_minute(instant);
  head record;
  place bigint;
  digest bytea;
begin
  insert into audit_heads (shop_id, number, hash) values (shop, 0, decode(repeat('00', 32), 'hex'))
  on conflict (shop_id) do nothing;
  select h.number, h.hash, h.minute, h.limited, h.omitted into head from audit_heads h where h.shop_id = shop for update;
  if head.omitted > 0 and head.minute <> this_minute then
    update audit_heads set omitted = 0, limited = 0 where shop_id = shop;
    perform append_audit_entry(shop, instant, 'service', null, 'sign_ins_omitted', head.omitted::text, null, false);
    return append_audit_entry(shop, instant, actor, via, act, object, origin, is_limited);
  end if;
  if act is null then return null; end if;
  if is_limited then
    if head.minute = this_minute and head.limited >= max_limited then
      update audit_heads set omitted = omitted + 1 where shop_id = shop;
      return null;
    end if;
    update audit_heads set minute = this_minute,
      limited = case when minute = this_minute then limited + 1 else 1 end
    where shop_id = shop;
  end if;
  place := head.number + 1;
  digest := sha256(head.hash || convert_to(jsonb_build_array(
    shop, place, (extract(epoch from exact) * 1000)::bigint, actor, via, act, object, origin
  )::text, 'UTF8'));
  insert into audit_entries (shop_id, number, at, who, session, what, target, network, previous, hash)
  values (shop, place, exact, actor, via, act, object, origin, head.hash, digest);
  update audit_heads set number = place, hash = digest where shop_id = shop;
  return jsonb_build_object('number', place, 'hash', encode(digest, 'hex'));
end $$;

-- Entries are only ever appended. The table's owner may delete some, after saying so: `audit prune`, and the deletion of
-- a shop.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('retention.audit_deletion', true) = 'on'
    and pg_has_role((select relowner from pg_class where oid = tg_relid), 'usage') then
    return null;
  end if;
  raise exception 'The audit log is append-only.';
end $$;
