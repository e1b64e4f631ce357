import type { Sql, Transaction } from './database.ts';

/** A table of shops' data. */
export interface ShopTable {
  /** With its schema, unless that is `public`. */
  readonly name: string;
  /** The primary key after the shop; undefined if it does not begin with the shop. */
  readonly key: readonly { readonly name: string; readonly type: string }[] | undefined;
  readonly columns: readonly string[];
  /** Columns that are `generated always as identity`, which no update may set. */
  readonly identities: readonly string[];
  /** The tables of shops' data that its rows refer to. */
  readonly parents: readonly string[];
}

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly parents: readonly string[];
  readonly columns: readonly string[];
  readonly identities: readonly string[];
}

/** All tables that have a shop's rows, by name. */
export async function listShopTables(sql: Sql): Promise<ShopTable[]> {
  const rows = await sql<Column[]>`
    with held as (
      select c.oid, case when n.nspname = 'public' then c.relname else n.nspname || '.' || c.relname end as name
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id' and not a.attisdropped
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(?:pg_|citus)'
    )
    select h.name as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
      to_json(array(
        select distinct p.name::text from pg_constraint f join held p on p.oid = f.confrelid
        where f.conrelid = h.oid and f.contype = 'f' and p.oid <> h.oid
      )) as parents,
      to_json(array(
        select c.attname::text from pg_attribute c
        where c.attrelid = h.oid and c.attnum > 0 and not c.attisdropped order by c.attname
      )) as columns,
      to_json(array(
        select c.attname::text from pg_attribute c where c.attrelid = h.oid and c.attidentity = 'a'
      )) as identities
    from held h
    join pg_index i on i.indrelid = h.oid and i.indisprimary
    cross join unnest(i.indkey::int2[]) with ordinality k (number, position)
    join pg_attribute a on a.attrelid = h.oid and a.attnum = k.number
    order by h.name, k.position`;
  return [...Map.groupBy(rows, ({ table }) => table)].map(([name, [first, ...key]]) => ({
    name,
    parents: first?.parents ?? [],
    columns: first?.columns ?? [],
    identities: first?.identities ?? [],
    key:
      first?.column === 'shop_id'
        ? key.map(({ column, type }) => ({ name: column, type }))
        : undefined,
  }));
}

/** Each table before those that its rows refer to. */
export function childrenFirst(tables: readonly ShopTable[]): ShopTable[] {
  const ordered: ShopTable[] = [];
  for (let left = [...tables]; left.length > 0;) {
    const used = new Set(left.flatMap(({ parents }) => parents));
    const free = left.filter(({ name }) => !used.has(name));
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}

/** How many rows of a shop a table has. */
export async function countRows(
  sql: Sql | Transaction,
  table: string,
  shopId: number,
): Promise<number> {
  const [found] = await sql<{ rows: number }[]>`
    select count(*) as rows from ${sql.id(table)} where shop_id = ${shopId}`;
  return found?.rows ?? 0;
}
