-- The source's own ids (`cus_…`) of records whose id here was derived from them. Only opaque ids are stored.
create table source_ids (
  shop_id bigint not null references shops,
  kind text not null
    check (kind in ('plan', 'subscription', 'customer', 'payment', 'refund', 'cancellation')),
  id bigint not null,
  source_id text not null check (octet_length(source_id) between 1 and 200),
  -- Serves both directions: the id here follows from the source's by a formula.
  primary key (shop_id, kind, id)
);

-- Whatever deletes a record deletes its source id.
create function delete_source_ids() returns trigger language plpgsql as $$
declare
  shop bigint;
  ids bigint[];
begin
  for shop in select distinct shop_id from old_rows loop
    execute format('select array_agg(%I) from old_rows where shop_id = $1', tg_argv[1])
      into ids using shop;
    delete from source_ids where shop_id = shop and kind = tg_argv[0] and id = any (ids);
  end loop;
  return null;
end $$;

create trigger source_ids after delete on plans referencing old table as old_rows
  for each statement execute function delete_source_ids('plan', 'plan_id');
create trigger source_ids after delete on subscriptions referencing old table as old_rows
  for each statement execute function delete_source_ids('subscription', 'subscription_id');
create trigger source_ids after delete on customers referencing old table as old_rows
  for each statement execute function delete_source_ids('customer', 'customer_id');
create trigger source_ids after delete on payments referencing old table as old_rows
  for each statement execute function delete_source_ids('payment', 'payment_id');
create trigger source_ids after delete on refunds referencing old table as old_rows
  for each statement execute function delete_source_ids('refund', 'refund_id');
create trigger source_ids after delete on cancellation_sessions referencing old table as old_rows
  for each statement execute function delete_source_ids('cancellation', 'session_id');
