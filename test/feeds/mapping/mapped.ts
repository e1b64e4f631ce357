import path from 'node:path';
import { FixedClock } from '../../../src/clock.ts';
import { openMapped } from '../../../src/feeds/mapping/open.ts';
import { parseMapping } from '../../../src/feeds/mapping/read.ts';
import { importRecords } from '../../../src/ingest/import.ts';
import type { Store } from '../../../src/store/open.ts';
import { root } from '../../cli/process.ts';
import { type TestShop, now, silentLog } from '../../support/world.ts';

export const sample = (name: string) => path.join(root, 'test/feeds/mapping', name);

/** Imports a file by a mapping, as the command does. */
export async function importMapped(store: Store, shop: TestShop, mapping: string, file: string) {
  const refused: string[] = [];
  const texts: string[] = [];
  const left = { rows: 0 };
  const source = openMapped(file, parseMapping('mapping.json', mapping), shop, left);
  const counts = await importRecords([source], {
    sql: store.write,
    shop,
    feed: 'export',
    isFromFeed: true,
    clock: new FixedClock(now),
    log: silentLog,
    refuse(_, { number, text }, reason) {
      refused.push(`${number}: ${reason}`);
      texts.push(text);
    },
  });
  return { counts, refused, texts, left: left.rows };
}

/** A mapping of subscriptions out of a CSV file, with what a test does not care for filled in. */
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
