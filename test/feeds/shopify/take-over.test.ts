import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { claimShop, syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import { findMissing } from '../../../src/store/records/export-dates.ts';
import { type Store, connectAll } from '../../../src/store/open.ts';
import { run, throwawayFolder } from '../../cli/process.ts';
import { dumpShop } from '../../model/dump.ts';
import { plan, session, subscription } from '../../rest/records.ts';
import { serverUrl } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { plans, samplePath } from './samples.ts';
import type { StandIn } from './stand-in.ts';
import { beginSync } from './synced.ts';

const env = { DATABASE_URL: serverUrl ?? '', LOG_LEVEL: 'error' };
const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';
const defaults = { full: false, takeOver: false };
const everything = { full: true, takeOver: false };

const recordsFromElsewhere = [
  plan({ id: 11 }),
  subscription(7),
  {
    type: 'payment',
    id: 9001,
    subscriptionId: 7,
    cycle: '2026-11',
    status: 'succeeded',
    amount: '30.60',
    processedAt: '2026-11-05T11:00:02Z',
  },
  { type: 'refund', id: 71, paymentId: 9001, amount: '10.00', refundedAt: '2026-11-06T00:00:00Z' },
  { type: 'delete', record: 'subscription', id: 1001 },
];
const sessions = [
  session(7001, { subscriptionId: 1001 }),
  session(7002),
  { type: 'delete', record: 'cancellation', id: 7002 },
];

describe('an import into a shop that belongs to Shopify', { skip }, () => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(() => {
    store = connectAll(env.DATABASE_URL);
  });
  after(async () => {
    for (const each of standIns) await each.close();
    await store.close();
  });

  /** A synced shop, and `import` into it in an empty folder. */
  async function begin() {
    const it = await beginSync(store, standIns);
    await syncShop(it.synced, defaults);
    const stored = await dumpShop(store.write, it.shop.id);
    return { ...it, stored, ...importerOf(it.shop.id) };
  }

  function importerOf(shopId: number) {
    const folder = throwawayFolder();
    const take = (args: readonly string[], records: readonly object[] = []) => {
      const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
      writeFileSync(path.join(folder, 'a.ndjson'), lines);
      return run(['import', '--shop', String(shopId), ...args], { env, cwd: folder });
    };
    return { folder, take };
  }

  test('stores what Shopify does not have, and refuses the rest by line', async () => {
    const { shop, take, stored } = await begin();
    const records = [...recordsFromElsewhere, ...sessions];
    const { code, out, err } = await take(['--json', 'a.ndjson'], records);
    assert.equal(code, 3, err);
    const reason = `shop ${shop.id} belongs to sample-shop.myshopify.com: its plans, subscriptions, payments and refunds come from Shopify; --take-over imports it anyway`;
    assert.deepEqual(
      err.split('\n').slice(0, -2),
      ['plan 11', 'subscription 7', 'payment 9001', 'refund 71', 'delete 1001'].map(
        (record, index) => `a.ndjson:${index + 1}: ${reason} (${record})`,
      ),
    );
    const counts = JSON.parse(out).counts as Record<string, { stored: number; refused: number }>;
    assert.deepEqual(
      Object.entries(counts).map(([type, count]) => [type, count.stored, count.refused]),
      [
        ['plan', 0, 1],
        ['subscription', 0, 1],
        ['payment', 0, 1],
        ['refund', 0, 1],
        ['delete', 0, 1],
        ['cancellation', 2, 0],
      ],
    );
    const changed = await dumpShop(store.write, shop.id);
    for (const table of ['plans', 'subscriptions', 'payments', 'refunds']) {
      assert.notEqual(stored[table]?.length, 0);
      assert.deepEqual(changed[table], stored[table]);
    }
    assert.equal(changed['cancellation_sessions']?.length, 1);
  });

  test('takes nothing from an export file of Shopify', async () => {
    const { shop, take, stored, folder } = await begin();
    const { code, out, err } = await take(['--from', 'shopify', samplePath(plans)]);
    assert.deepEqual(
      [code, out, err],
      [
        1,
        '',
        `retention: Shop ${shop.id} belongs to sample-shop.myshopify.com: its plans, subscriptions, payments and refunds come from Shopify, so nothing was imported. --take-over imports the file anyway. The next full sync with Shopify deletes the plans and subscriptions that sample-shop.myshopify.com does not have, and replaces the others; payments and refunds that you add to those stay.\n`,
      ],
    );
    assert.deepEqual(await dumpShop(store.write, shop.id), stored);
    assert.deepEqual(readdirSync(folder), ['a.ndjson']);
  });

  test('refuses what a mapping makes of another platform’s export', async () => {
    const { shop, take, folder, stored } = await begin();
    writeFileSync(path.join(folder, 'plans.csv'), 'id,name\n1,Box\n');
    const rules = {
      input: { format: 'csv' },
      records: [
        {
          type: 'plan',
          fields: {
            id: 'id',
            name: 'name',
            planType: { value: 'subscription' },
            intervalUnit: { value: 'month' },
            intervalCount: { value: 1 },
          },
        },
      ],
    };
    writeFileSync(path.join(folder, 'mapping.json'), JSON.stringify(rules));
    const args = ['--mapping', 'mapping.json', 'plans.csv'];
    const { code, err } = await take(args);
    assert.equal(code, 3, err);
    assert.match(err, /^plans\.csv:2: shop \d+ belongs to sample-shop\.myshopify\.com: /);
    assert.deepEqual(await dumpShop(store.write, shop.id), stored);
  });

  test('takes everything with --take-over, until the next full sync', async () => {
    const { take, synced, shop } = await begin();
    const warning =
      'The next full sync with Shopify deletes the plans and subscriptions that sample-shop.myshopify.com does not have, and replaces the others; payments and refunds that you add to those stay.\n';
    const [, , payment] = recordsFromElsewhere;
    const added = { ...payment, id: 9002, subscriptionId: 1002 };
    const imported = await take(['--take-over', 'a.ndjson'], [...recordsFromElsewhere, added]);
    assert.deepEqual([imported.code, imported.err], [0, warning]);
    const has = async (id: number) =>
      (await findMissing(store.write, shop.id, 'subscription', [id])).size === 0;
    assert.deepEqual([await has(7), await has(1001)], [true, false]);
    await syncShop(synced, everything);
    assert.deepEqual([await has(7), await has(1001)], [false, true]);
    const gone = await findMissing(store.write, shop.id, 'payment', [9001, 9002]);
    assert.deepEqual([...gone], [9001]);
    const file = await take(['--from', 'shopify', '--take-over', samplePath(plans)]);
    assert.deepEqual([file.code, file.err], [0, warning]);
  });

  test('is as usual until the first full sync is complete', async () => {
    const { synced, shop } = await beginSync(store, standIns);
    await claimShop(synced, false);
    for (const shopId of [shop.id, (await createShop(store)).id]) {
      const { take } = importerOf(shopId);
      const records = await take(['a.ndjson'], recordsFromElsewhere.slice(0, 4));
      assert.deepEqual([records.code, records.err], [0, '']);
      const file = await take(['--from', 'shopify', samplePath(plans)]);
      assert.deepEqual([file.code, file.err], [0, '']);
    }
  });
});
