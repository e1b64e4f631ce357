import assert from 'node:assert/strict';
import { type Sql, arrayText } from '../../src/store/database.ts';
import { auditTables } from '../../src/store/owners/audit.ts';

/** Rows as text, by table. */
type Dump = Readonly<Record<string, readonly string[]>>;

/** What belongs to the installation. */
const ofInstallation = [
  'shops',
  'api_keys',
  'key_uses',
  'request_counts',
  'request_log',
  'request_batches',
  'feeds',
  'shopify_syncs',
  'redacted_customers',
  'customer_keys',
  ...auditTables,
];

/**
 * The rows of a shop's tables, without the shop's id. It does not ask src/store/shop-tables.ts, so that it sees a table
 * that is forgotten there.
 * @param without names of other tables and columns
 */
export async function listRows(
  sql: Sql,
  shopId: number,
  without: { readonly tables: readonly string[]; readonly columns: readonly string[] },
): Promise<Dump> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id'
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and c.relname <> all (${arrayText([...ofInstallation, ...without.tables])}::text::text[])
    order by c.relname`;
  const dump: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select (to_jsonb(t) - ${arrayText(['shop_id', ...without.columns])}::text::text[])::text as row
      from ${sql.unsafe(name)} t where shop_id = ${shopId}`;
    dump[name] = rows.map(({ row }) => row).toSorted();
  }
  return dump;
}

/**
 * A shop's stored business data, without the shop's id, which feed it is from (nor the sums by feed), and import details.
 */
export async function dumpShop(sql: Sql, shopId: number): Promise<Dump> {
  const dump = await listRows(sql, shopId, { tables: ['metric_shops'], columns: ['feed'] });
  const { metric_ledger: ledger = [], subscriptions = [] } = dump;
  return {
    ...dump,
    metric_ledger: ledger.filter((row) => !row.includes('"grain": "present"')),
    subscriptions: subscriptions.map(withoutRepetitions).toSorted(),
  };
}

/** A subscription without the times at which it was only seen again, which depend on how it came. */
function withoutRepetitions(row: string): string {
  const { past_values: past, ...fields } = JSON.parse(row);
  const values = (past ?? []).filter(([, value]: readonly unknown[]) => value);
  return JSON.stringify({ ...fields, past_values: values.length > 1 ? values : null });
}

function onlyIn(one: Dump, another: Dump): string[] {
  return Object.entries(one).flatMap(([table, rows]) => {
    const there = new Set(another[table]);
    return rows.filter((row) => !there.has(row)).map((row) => `${table} ${row}`);
  });
}

/** Fails with the rows that only one of two shops has; a diff of thousands of rows would take minutes. */
export function assertSameDump(dump: Dump, other: Dump): void {
  assert.deepEqual(Object.keys(dump), Object.keys(other));
  assert.deepEqual(onlyIn(dump, other).slice(0, 20), [], 'rows that should not be there');
  assert.deepEqual(onlyIn(other, dump).slice(0, 20), [], 'rows that are missing');
}

export async function assertSameShop(sql: Sql, shopId: number, otherId: number): Promise<void> {
  assertSameDump(await dumpShop(sql, shopId), await dumpShop(sql, otherId));
}
