-- What holds up writes for a shop that moves to another database (docs/decisions/0027-shops-that-move.md).

-- Whether this transaction moves a shop (src/store/moves): rows are stored and deleted as they are, and nothing follows.
create or replace function moves_rows() returns boolean language sql stable as $$
  select coalesce(current_setting('retention.moves_rows', true) = 'on', false)
$$;

-- The lock that all who write for a shop share, and that the last step of a move takes exclusively.
create or replace function move_lock(shop bigint) returns bigint language sql immutable as $$
  select hashtextextended('retention hold ' || shop, 0)
$$;

-- Lets the rest of this transaction write for a shop, unless the shop has moved. While it moves, this waits, or fails.
create or replace function require_here(shop bigint, waits boolean default true) returns void language plpgsql as $$
declare
  target text;
begin
  if moves_rows() then return; end if;
  if waits then
    perform pg_advisory_xact_lock_shared(move_lock(shop));
  elsif not pg_try_advisory_xact_lock_shared(move_lock(shop)) then
    raise exception 'Shop % is being moved. Try again in a few seconds.', shop using errcode = 'RD001';
  end if;
  select moving_to into target from metric_shops where shop_id = shop;
  if target is not null then
    raise exception 'Shop % has moved to %. If the move was interrupted, run it again.', shop, target using errcode = 'RD001';
  end if;
end $$;

-- Before rows of the tables that are not written by the shop's writer alone. A pushed batch does not wait: its sender
-- can repeat it.
create or replace function hold_shop() returns trigger language plpgsql as $$
declare
  changed constant record := case tg_op when 'DELETE' then old else new end;
begin
  perform require_here(changed.shop_id, tg_table_name not like 'batches%');
  return changed;
end $$;
