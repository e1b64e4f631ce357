import assert from 'node:assert/strict';
import { type Clock, FixedClock } from '../../src/clock.ts';
import { headerOf, openExport } from '../../src/ingest/exports/header.ts';
import { exportRecords } from '../../src/ingest/exports/records.ts';
import { importRecords } from '../../src/ingest/import.ts';
import { readLines } from '../../src/ingest/lines.ts';
import type { Store } from '../../src/store/open.ts';
import { findShop } from '../../src/store/shops.ts';
import { assertSameDump, listRows } from '../model/dump.ts';
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

/** Fails unless two shops have the same records, and the same that follows from them. */
export async function assertSameRows(store: Store, shopId: number, otherId: number): Promise<void> {
  const [expected, found] = [await rowsOf(store, shopId), await rowsOf(store, otherId)];
  assertSameDump(found, expected);
  assert.deepEqual(countsOf(found), countsOf(expected));
}

/** Without what a new shop need not have: when which export was seen, and which customers an owner has contacted. */
const rowsOf = ({ write }: Store, shopId: number) =>
  listRows(write, shopId, {
    tables: ['contacted_cases', 'export_dates', 'snapshot_dates'],
    columns: ['digest', 'writer'],
  });

const countsOf = (dump: Readonly<Record<string, readonly string[]>>) =>
  Object.values(dump).map(({ length }) => length);
