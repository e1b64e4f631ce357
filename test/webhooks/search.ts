import type { Store } from '../../src/store/open.ts';

/** Every row of our tables, including those of the job library, as text. */
export async function listRows({ write: sql }: Store): Promise<{ table: string; row: string }[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where relkind = 'r' and nspname not like 'pg\\_%' and nspname <> 'information_schema'
    order by 1`;
  const rows = [];
  for (const { name } of tables) {
    const found = await sql.unsafe<{ row: string }[]>(
      `select t::text as row from ${name} t order by 1`,
    );
    rows.push(...found.map(({ row }) => ({ table: name, row })));
  }
  return rows;
}

/** The table of each row that contains a number or a text. */
export async function findEverywhere(store: Store, value: number | string): Promise<string[]> {
  const pattern =
    typeof value === 'number'
      ? new RegExp(`(?<!\\d)${value}(?!\\d)`)
      : new RegExp(RegExp.escape(value));
  return (await listRows(store)).filter(({ row }) => pattern.test(row)).map(({ table }) => table);
}
