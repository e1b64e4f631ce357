import { arrayText } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';

/**
 * The tables with a row that a pattern matches, in any case. All tests share a database: of tables of shops, only the
 * rows of these shops, and those of none, are read.
 */
export async function tablesWith(
  { write: sql }: Pick<Store, 'write'>,
  shopIds: readonly number[],
  pattern: string,
): Promise<string[]> {
  const tables = await sql<{ name: string; isOfShops: boolean }[]>`
    select c.oid::regclass::text as name, exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'shop_id'
    ) as "isOfShops"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
    order by 1`;
  const found: string[] = [];
  for (const { name, isOfShops } of tables) {
    const ofShop = isOfShops
      ? sql`(shop_id = any (${arrayText([0, ...shopIds])}::text::bigint[]) or shop_id is null)`
      : sql`true`;
    const rows = await sql`
      select from ${sql.unsafe(name)} t where ${ofShop} and t::text ~* ${pattern} limit 1`;
    if (rows.length > 0) found.push(name);
  }
  return found;
}
