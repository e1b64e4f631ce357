import { PlatformError } from '../errors.ts';
import type { Source } from './connection.ts';

/*
 * What a login may do that a reader need not. Whatever a role of it may, it may too: `set role` is enough. Temporary
 * tables do no harm, and everyone may update the view pg_catalog.pg_settings, for a session.
 */
const findings = `
  with roles as (
    select oid, rolname, rolsuper, rolcreaterole, rolreplication from pg_roles where pg_has_role(current_user, oid, 'member')
  ), found as (
    select 1 as rank, 'is a superuser' as what from roles where rolsuper
    union all
    select 2, 'may create roles' from roles where rolcreaterole
    union all
    select 2, 'may replicate the server' from roles where rolreplication
    union all
    select 3, 'is a member of ' || rolname from roles
    where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data')
    union all
    select 3, 'may create schemas in the database' from roles r
    where has_database_privilege(r.oid, current_database(), 'CREATE')
    union all
    select 3, 'may call ' || p.proname from pg_proc p cross join roles r
    where p.proname in ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export')
      and has_function_privilege(r.oid, p.oid, 'EXECUTE')
    union all
    select 4, 'owns ' || format('%I.%I', n.nspname, c.relname)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join roles r on r.oid = c.relowner
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_'
    union all
    select 4, 'may ' || case kind when 'INSERT' then 'insert into' when 'DELETE' then 'delete from' else lower(kind) end || ' ' || format('%I.%I', n.nspname, c.relname)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join roles r
    cross join (values ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) k (kind)
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_'
      and (has_table_privilege(r.oid, c.oid, kind)
        or kind in ('INSERT', 'UPDATE') and has_any_column_privilege(r.oid, c.oid, kind))
    union all
    select 5, 'may create in schema ' || quote_ident(n.nspname)
    from pg_namespace n cross join roles r
    where n.nspname !~ '^pg_(toast|temp)' and has_schema_privilege(r.oid, n.oid, 'CREATE')
  )
  select what from found order by rank limit 1`;

/**
 * Refuses a login that may write, so that nothing that goes wrong here can harm the database there.
 * @throws PlatformError that says which right is too many
 */
export async function checkRights(source: Source, user: string): Promise<void> {
  const { rows } = await source.query<{ what: string }>({ text: findings });
  const [found] = rows;
  if (!found) return;
  throw new PlatformError(
    'refused',
    `The login ${user} ${found.what}. Use one that may only read: it may select from the tables that the queries need, and no more.`,
  );
}
