-- How the triggers of triggers.sql are made, which drops these procedures in the end.

-- Creates a trigger, unless the table has it already.
create procedure pg_temp.create_trigger(name text, watched text, definition text) language plpgsql as $create$
begin
  if not exists (select from pg_trigger where tgrelid = watched::regclass and tgname = name) then
    execute format('create trigger %I ' || definition, name, watched);
  end if;
end $create$;

-- Creates a table's triggers for what is inserted, updated and deleted, from one body that runs for each shop that is
-- concerned. In it, `changes` stands for the rows that came and went, with a `sign` of 1 and -1 if the body asks for it.
-- Facts are summed as finely as they are kept (`kept_since`), so that a statement about years hands over days.
-- `variables` are declared, whether or not the body uses them.
create procedure pg_temp.watch(
  watched text,
  body text,
  variables text default 'kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];',
  purpose text default 'metrics',
  operations text[] default '{insert,update,delete}'
) language plpgsql as $watch$
declare
  signed constant boolean := body like '%sign%';
  operation text;
  rows text;
  name text;
begin
  foreach operation in array operations loop
    rows := case
      when operation = 'insert' and signed then '(select 1 as sign, * from new_rows) changes'
      when operation = 'delete' and signed then '(select -1 as sign, * from old_rows) changes'
      when signed then '(select 1 as sign, * from new_rows union all select -1, * from old_rows) changes'
      when operation = 'insert' then 'new_rows changes'
      when operation = 'delete' then 'old_rows changes'
      else '(select * from new_rows union all select * from old_rows) changes'
    end;
    name := watched || '_' || purpose || '_' || operation;
    execute format('create or replace function %I() returns trigger language plpgsql as %L', name, replace(
      'declare
        shops bigint[] := array(select distinct shop_id from changes order by shop_id);
        shop bigint;
        ' || variables || '
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);'
          || case when variables like '%kept_since%' then '
          select hours_since into kept_since from metric_shops where shop_id = shop;' else '' end
          || body || '
        end loop;
        return null;
      end',
      'from changes', 'from ' || rows
    ));
    call pg_temp.create_trigger(purpose || '_' || operation, watched, format(
      'after %s on %%I referencing %s for each statement execute function %I()',
      operation,
      case operation
        when 'insert' then 'new table as new_rows'
        when 'delete' then 'old table as old_rows'
        else 'old table as old_rows new table as new_rows'
      end,
      name
    ));
  end loop;
end $watch$;
