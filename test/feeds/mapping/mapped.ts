import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { FixedClock } from '../../../src/clock.ts';
import { openMapped } from '../../../src/mapping/open.ts';
import { parseMapping } from '../../../src/mapping/read.ts';
import { importRecords } from '../../../src/ingest/import.ts';
import type { Snapshot } from '../../../src/ingest/snapshot.ts';
import type { Store } from '../../../src/store/open.ts';
import { ensureCustomerKey } from '../../../src/store/records/customer-keys.ts';
import { root, throwawayFolder } from '../../cli/process.ts';
import { plan } from '../../rest/records.ts';
import { type TestShop, createShop, importAll, now, silentLog } from '../../support/world.ts';

export const sample = (name: string) => path.join(root, 'test/feeds/mapping', name);

interface MappedRun {
  /** When the import runs. */
  readonly at?: string;
  /** When the file was exported. */
  readonly asOf?: string;
  readonly snapshot?: Snapshot;
}

/** Imports a file with a mapping, as the command does. */
export async function importMapped(
  store: Store,
  shop: TestShop,
  mapping: string,
  file: string,
  { at = now, asOf, snapshot }: MappedRun = {},
) {
  const clock = new FixedClock(at);
  const refused: string[] = [];
  const warnings: string[] = [];
  const texts: string[] = [];
  const left = { rows: 0 };
  const rules = parseMapping('mapping.json', mapping);
  const source = openMapped(file, rules, shop, clock, left, {
    customerKey: await ensureCustomerKey(store.write, shop.id),
    asOf: asOf === undefined ? undefined : Date.parse(asOf),
  });
  const counts = await importRecords([source], {
    sql: store.write,
    shop,
    feed: 'export',
    isFromFeed: true,
    ...(snapshot && { snapshot }),
    clock,
    log: silentLog,
    refuse(_, { number, text }, reason) {
      refused.push(`${number}: ${reason}`);
      texts.push(text);
    },
    warn: (_source, _line, warning) => warnings.push(warning),
  });
  return { counts, refused, warnings, texts, left: left.rows };
}

/** A mapping of subscriptions from a CSV file, with defaults for what a test does not override. */
export function subscriptions(over: object = {}, fields: object = {}): Record<string, unknown> {
  return {
    input: { format: 'csv' },
    records: [
      {
        type: 'subscription',
        fields: {
          id: 'id',
          customerId: 'customer',
          planId: { value: 11 },
          status: { value: 'active' },
          createdAt: 'created',
          ...fields,
        },
        lines: {
          fields: {
            productId: { value: 81 },
            productTitle: { value: '' },
            variantId: { value: 91 },
            quantity: { value: 1 },
            currentPrice: 'price',
          },
        },
        ...over,
      },
    ],
  };
}

/** Imports a file with this content into a new shop that has plan 11. */
export async function importContent(
  store: Store,
  mapping: object,
  content: string | Buffer,
  name = 'export.csv',
) {
  const shop = await createShop(store);
  await importAll(store, shop, [plan()]);
  const file = path.join(throwawayFolder(), name);
  writeFileSync(file, content);
  const imported = await importMapped(store, shop, JSON.stringify(mapping), file);
  const rows = await store.write<{ text: string }[]>`
    select concat(subscription_id, ' ', status, ' ', current_price, ' ',
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')) as text
    from subscriptions where shop_id = ${shop.id} order by subscription_id`;
  return { ...imported, shop, stored: rows.map(({ text }) => text) };
}
