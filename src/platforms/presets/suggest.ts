import { UsageError } from '../../errors.ts';
import { withoutComments } from '../../mapping/read.ts';
import type { PlatformCode } from '../platform.ts';
import { parseTarget, urlForm } from '../postgres/address.ts';
import { type Source, withSource } from '../postgres/connection.ts';
import { checkColumns } from '../postgres/read.ts';
import { checkRights } from '../postgres/rights.ts';
import { openStreams } from '../postgres/streams.ts';
import { type RowContext, suggestByRows } from './own-tables.ts';
import { type SourceTable, findPresets } from './presets.ts';

/** Suggests what to read of a merchant's database. */
export const suggest: NonNullable<PlatformCode['suggest']> = async ({ url }, currency, context) => {
  const target = parseTarget(url);
  if (!target) throw new UsageError(`url must be ${urlForm}.`);
  const { sourceNetworks: networks = [], clock, signal } = context;
  return withSource(target, { networks, signal }, async (source) => {
    await checkRights(source, target.user);
    const { text, ...found } = await findStreams(source, { currency, clock });
    const streams: unknown = JSON.parse(withoutComments(text));
    return { ...found, fields: { streams }, texts: { streams: text } };
  });
};

async function findStreams(source: Source, context: RowContext) {
  const tables = await listTables(source);
  const [found, ...others] = await findPresets(tables);
  if (!found) return suggestByRows(source, tables, context);
  const { name, title, schema, streams, notes } = found;
  // The same tables may have what another maker's need.
  const elsewhere = others.filter((other) => other.schema !== schema);
  for (const stream of await openStreams(streams)) await checkColumns(source, stream);
  return {
    preset: { name, title },
    text: JSON.stringify(streams, null, 2),
    notes: [
      ...notes,
      ...elsewhere.map((other) => `There is also ${other.title}, in the schema ${other.schema}.`),
      ...(elsewhere.length > 0 ? [`This is ${title}, in the schema ${schema}.`] : []),
    ],
  };
}

async function listTables(source: Source): Promise<readonly SourceTable[]> {
  const { rows } = await source.query<{ table: string }>({
    text: `
      select json_build_object('schema', n.nspname, 'name', c.relname,
        'columns', json_agg(a.attname order by a.attnum),
        'types', json_object_agg(a.attname, case t.typcategory when 'N' then 'number' when 'S' then 'text' else t.typname end),
        'filled', coalesce(json_agg(a.attname) filter (where a.attnotnull), '[]'),
        'key', coalesce(json_agg(a.attname order by a.attnum) filter (where a.attnum = any (i.indkey)), '[]'),
        'unique', coalesce(json_agg(a.attname) filter (where exists (
          select from pg_index u where u.indrelid = c.oid and u.indisunique and u.indisvalid
            and u.indpred is null and u.indnkeyatts = 1 and u.indkey[0] = a.attnum)), '[]'),
        'references', (
          select coalesce(json_agg(json_build_object('column', a.attname, 'schema', fn.nspname, 'table', f.relname, 'to', fa.attname)), '[]')
          from pg_constraint r
          join pg_class f on f.oid = r.confrelid
          join pg_namespace fn on fn.oid = f.relnamespace
          join pg_attribute a on a.attrelid = r.conrelid and a.attnum = r.conkey[1]
          join pg_attribute fa on fa.attrelid = r.confrelid and fa.attnum = r.confkey[1]
          where r.conrelid = c.oid and r.contype = 'f' and cardinality(r.conkey) = 1))::text as table
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')
      group by n.nspname, c.relname, c.oid
      order by n.nspname, c.relname
      limit 2000`,
  });
  return rows.map(({ table }) => JSON.parse(table) as SourceTable);
}
