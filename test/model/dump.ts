import assert from 'node:assert/strict';
import type { Sql } from '../../src/store/database.ts';

/** Rows as text, by table. */
type Dump = Readonly<Record<string, readonly string[]>>;

/**
 * A shop's stored business data, without the shop's id, which feed it is from (nor the sums by feed), and import details.
 */
export async function dumpShop(sql: Sql, shopId: number): Promise<Dump> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'shop_id'
      and table_name not in ('shops', 'api_keys', 'request_counts', 'request_log', 'request_batches',
        'metric_shops', 'subscriber_facts', 'feeds', 'shopify_syncs', 'redacted_customers', 'customer_keys', 'audit_entries', 'audit_heads')
    order by table_name`;
  const dump: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select (to_jsonb(t) - 'shop_id' - 'feed')::text as row from ${sql.unsafe(name)} t where shop_id = ${shopId}`;
    dump[name] = rows
      .filter(({ row }) => !row.includes('"grain": "present"'))
      .map(({ row }) => (name === 'subscriptions' ? withoutRepetitions(row) : row))
      .toSorted();
  }
  return dump;
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
export async function assertSameShop(sql: Sql, shopId: number, otherId: number): Promise<void> {
  const [dump, other] = [await dumpShop(sql, shopId), await dumpShop(sql, otherId)];
  assert.deepEqual(Object.keys(dump), Object.keys(other));
  assert.deepEqual(onlyIn(dump, other).slice(0, 20), [], 'rows that should not be there');
  assert.deepEqual(onlyIn(other, dump).slice(0, 20), [], 'rows that are missing');
}
