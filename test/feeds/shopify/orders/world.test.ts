import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { syncShop } from '../../../../src/platforms/shopify/sync/sync-shop.ts';
import type { Service } from '../../../../src/service.ts';
import type { Store } from '../../../../src/store/open.ts';
import { assertSameShop } from '../../../model/dump.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  get,
  startTestService,
} from '../../../support/world.ts';
import { summary as summaryWithoutOrders } from '../expected.ts';
import { file, importShopify, plans, randomOf, sample, sampleFile, shuffled } from '../samples.ts';
import { type StandIn, startStandIn } from '../stand-in.ts';
import { sampleWorld } from '../stand-in-world.ts';
import { syncedShop } from '../synced.ts';
import { entitlements, payments, refunds, subscriptions, summary } from './expected.ts';

const name = 'subscription_contracts.bulk.jsonl';
const text = readFileSync(path.join(import.meta.dirname, name), 'utf8');
const lines = text.trimEnd().split('\n');

onOneDatabase('samples with orders', (open) => {
  let store: Store;
  let shop: TestShop;
  let service: Service | undefined;
  let standIn: StandIn;

  before(async () => {
    store = open();
    shop = await createShop(store);
    const imported = await importShopify(store, shop, [file(name, lines), sampleFile(plans)]);
    assert.deepEqual(imported.refused, [
      `${name}:26: the contract is in CAD, and the shop's currency is USD`,
      `${name}:27: currentPrice is in CAD, and the shop's currency is USD`,
      `${name}:28: the order's total is in CAD, and the shop's currency is USD`,
    ]);
    service = await startTestService(store);
    standIn = await startStandIn(sampleWorld());
  });
  after(async () => {
    await service?.close();
    await store.close();
    await standIn.close();
  });

  const rows = async (table: string, columns: string) => {
    const found = await store.write.unsafe<Record<string, unknown>[]>(
      `select ${columns} from ${table} where shop_id = ${shop.id} order by 1`,
    );
    return found.map((row) =>
      Object.values(row)
        .map((value) =>
          value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : String(value),
        )
        .join(' | '),
    );
  };

  test('have the expected payments, with the amounts of their orders', async () => {
    const columns =
      'payment_id, subscription_id, cycle, status, failure_kind, amount, processed_at, updated_at';
    assert.deepEqual(await rows('payments', columns), payments);
  });

  test('have the expected refunds', async () => {
    assert.deepEqual(await rows('refunds', 'refund_id, payment_id, amount, refunded_at'), refunds);
  });

  test('have the expected subscriptions, with what was paid for', async () => {
    const columns =
      'subscription_id, customer_id, plan_id, status, status_since, current_price, own_interval_unit, own_interval_count, next_billing_at, paid_through_at, created_at, updated_at';
    assert.deepEqual(await rows('subscriptions', columns), subscriptions);
  });

  test('have the expected entitlements and metrics', async () => {
    const { key } = await createTestKey(store, shop.id);
    const base = `${service?.baseUrl}/api/external/v1`;
    for (const [customerId, expected] of Object.entries(entitlements)) {
      const { body } = await get(`${base}/entitlements?customerId=${customerId}`, key);
      const found = body.subscriptions as Record<string, unknown>[];
      assert.deepEqual(
        found.map((each) => [each['subscriptionId'], each['planType'], each['isEntitled']]),
        expected,
      );
    }
    const { body } = await get(`${base}/metrics/summary`, key);
    assert.deepEqual(body, { summary: { ...summaryWithoutOrders, ...summary } });
  });

  test('are stored the same from shuffled files, and by sync', async () => {
    const [fromFile, fromSync] = [await createShop(store), await createShop(store)];
    const all = shuffled([...lines, ...sample(plans)], randomOf(7));
    await importShopify(store, fromFile, [file('all', all)], 1);
    await assertSameShop(store.write, fromFile.id, shop.id);
    const { synced } = syncedShop(store, fromSync, standIn);
    await syncShop(synced, { full: true, takeOver: false });
    await assertSameShop(store.write, fromSync.id, shop.id);
  });
});
