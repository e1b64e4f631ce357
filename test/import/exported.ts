import assert from 'node:assert/strict';
import { type Clock, FixedClock } from '../../src/clock.ts';
import { headerOf, openExport } from '../../src/ingest/exports/header.ts';
import { exportRecords } from '../../src/ingest/exports/records.ts';
import { importRecords } from '../../src/ingest/import.ts';
import { readLines } from '../../src/ingest/lines.ts';
import { auditTables } from '../../src/store/owners/audit.ts';
import type { Store } from '../../src/store/open.ts';
import { findShop } from '../../src/store/shops.ts';
import { createShop, now, silentLog, type TestShop } from '../support/world.ts';

/** The lines of a shop's export. */
export async function exportAll({ write }: Store, shopId: number): Promise<string[]> {
  const shop = await findShop(write, shopId);
  assert.ok(shop);
  const lines = [JSON.stringify(await headerOf(write, shop, new Date(now)))];
  for await (const page of exportRecords(write, shopId)) lines.push(...page.lines);
  return lines;
}

/** Imports an export. @returns the reasons for which lines were refused */
export async function importExport(
  { write }: Store,
  shop: TestShop,
  lines: readonly string[],
  clock: Clock = new FixedClock(now),
): Promise<string[]> {
  async function* bytes() {
    yield Buffer.from(lines.join('\n'));
  }
  const source = { name: 'export', lines: readLines(bytes()) };
  const { sources, isExport } = await openExport([source], { sql: write, shop });
  assert.ok(isExport);
  const reasons: string[] = [];
  await importRecords(sources, {
    sql: write,
    shop,
    feed: 'records',
    clock,
    log: silentLog,
    isFromFeed: true,
    refuse: (_source, line, reason) => void reasons.push(`${line.text} ${reason}`),
  });
  return reasons;
}

/** What a new shop need not have: what belongs to the installation, and when which export was seen. */
const left = new Set([
  'shops',
  'api_keys',
  'request_counts',
  'request_log',
  'request_batches',
  'feeds',
  'shopify_syncs',
  'redacted_customers',
  'customer_keys',
  'contacted_cases',
  'export_dates',
  'snapshot_dates',
  ...auditTables,
]);

/** All rows of a shop's records and of what follows from them, as text. */
async function rowsOf({ write }: Store, shopId: number): Promise<string[]> {
  const tables = await write<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id'
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace order by 1`;
  const rows: string[] = [];
  for (const { name } of tables.filter((table) => !left.has(table.name))) {
    const found = await write.unsafe<{ row: string }[]>(
      `select (to_jsonb(t) - 'shop_id' - 'digest' - 'writer')::text as row from ${name} t where shop_id = $1`,
      [shopId],
    );
    rows.push(...found.map(({ row }) => `${name} ${row}`));
  }
  return rows.toSorted();
}

/** Exports a shop and imports that into a new one, which must then have the same rows in every table. */
export async function moveToNewShop(
  store: Store,
  shop: Pick<TestShop, 'id' | 'currency'>,
  clock?: Clock,
): Promise<TestShop> {
  const lines = await exportAll(store, shop.id);
  const other = await createShop(store, { currency: shop.currency });
  assert.deepEqual(await importExport(store, other, lines, clock), []);
  await assertSameRows(store, shop.id, other.id);
  return other;
}

export async function assertSameRows(store: Store, shopId: number, otherId: number): Promise<void> {
  const [rows, others] = [await rowsOf(store, shopId), await rowsOf(store, otherId)];
  const [known, expected] = [new Set(others), new Set(rows)];
  assert.deepEqual(rows.filter((row) => !known.has(row)).slice(0, 10), [], 'missing rows');
  assert.deepEqual(others.filter((row) => !expected.has(row)).slice(0, 10), [], 'unknown rows');
  assert.equal(others.length, rows.length);
}
