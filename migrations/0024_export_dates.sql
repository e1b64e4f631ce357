-- The date of the export that a record was last in, where it is known, so that an older export does not replace
-- it. Not a column of the record, because a record that an export does not change is not written.
create table export_dates (
  shop_id bigint not null,
  kind text not null
    check (kind in ('plan', 'subscription', 'payment', 'refund', 'cancellation')),
  id bigint not null,
  exported_at timestamptz(3) not null,
  primary key (shop_id, kind, id)
);

-- Whatever deletes a record deletes its source id, and the date of its export.
create or replace function delete_source_ids() returns trigger language plpgsql as $$
declare
  shop bigint;
  ids bigint[];
begin
  for shop in select distinct shop_id from old_rows loop
    execute format('select array_agg(%I) from old_rows where shop_id = $1', tg_argv[1])
      into ids using shop;
    delete from source_ids where shop_id = shop and kind = tg_argv[0] and id = any (ids);
    delete from export_dates where shop_id = shop and kind = tg_argv[0] and id = any (ids);
  end loop;
  return null;
end $$;
