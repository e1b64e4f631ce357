import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  insertDataRequest,
  findUninstall,
  linkShopifyShop,
  markUninstalled,
} from '../../src/platforms/shopify/store/shops.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { createShop, createTestKey, importAll } from '../support/world.ts';
import { run } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';

describe('retention shopify', { skip }, () => {
  let store: Store;
  before(() => {
    store = connectAll(DATABASE_URL);
  });
  after(() => store.close());

  const retention = (...args: string[]) => run(args, { env: { DATABASE_URL, LOG_LEVEL: 'warn' } });
  async function runOk(...args: string[]): Promise<string> {
    const { code, out, err } = await retention(...args);
    assert.equal(code, 0, err);
    return out;
  }

  test('lists customers who requested their data, and exports the data of one', async () => {
    const shop = await createShop(store);
    const id = String(shop.id);
    assert.equal(await runOk('shopify', 'requests', '--shop', id), 'No requests.\n');
    const { customerId } = subscription(1001) as { customerId: number };
    await importAll(store, shop, [plan(), subscription(1001)]);
    const receivedAt = new Date('2026-11-20T11:12:00.000Z');
    const requestId = randomUUID();
    await insertDataRequest(store.write, { shopId: shop.id, requestId, customerId, receivedAt });
    assert.equal(
      await runOk('shopify', 'requests', '--shop', id),
      `CUSTOMER  REQUESTED\n${String(customerId).padEnd(8)}  2026-11-20T11:12:00.000Z\n`,
    );
    assert.deepEqual(JSON.parse(await runOk('shopify', 'requests', '--shop', id, '--json')), [
      { customer: customerId, receivedAt: '2026-11-20T11:12:00.000Z' },
    ]);
    const args = ['shopify', 'data-request', '--shop', id, '--customer'];
    const held = JSON.parse(await runOk(...args, String(customerId)));
    assert.deepEqual(
      [held.shop, held.customer, held.currency, held.requestedAt],
      [shop.id, customerId, 'USD', ['2026-11-20T11:12:00.000Z']],
    );
    assert.deepEqual(
      held.subscriptions.map((each: { id: number }) => each.id),
      [1001],
    );
    assert.deepEqual(JSON.parse(await runOk(...args, '7')).subscriptions, []);
    const wrong = await retention(...args, 'sam@example.com');
    assert.equal(wrong.code, 2);
  });

  test('records an uninstall whose webhook did not arrive, and revokes the keys', async () => {
    const shop = await createShop(store);
    const id = String(shop.id);
    const { id: keyId } = await createTestKey(store, shop.id);
    const args = ['shopify', 'uninstalled', '--shop', id];
    const unlinked = await retention(...args);
    assert.equal(unlinked.code, 1);
    assert.equal(
      unlinked.err,
      `retention: Shop ${id} is not connected to Shopify; "serve" connects the shops of SHOPIFY_CREDENTIALS_FILE.\n`,
    );
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    assert.equal((await listKeys(store.write, shop.id))[0]?.revokedAt, null);
    assert.deepEqual(JSON.parse(await runOk(...args, '--json')), {
      shop: shop.id,
      revokedKeys: [keyId],
    });
    assert.equal(
      await runOk(...args),
      `The keys of shop ${id} are revoked, and the shop is no longer synced.\n`,
    );
    assert.ok((await listKeys(store.write, shop.id))[0]?.revokedAt);
    assert.ok(await findUninstall(store.write, shop.id));
  });

  test('records that the app is reinstalled, and retries failed webhooks', async () => {
    const shop = await createShop(store);
    const id = String(shop.id);
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const args = ['shopify', 'reinstalled', '--shop', id];
    assert.equal(await runOk(...args), `The app was not uninstalled from shop ${id}.\n`);
    await store.write.begin((tx) => markUninstalled(tx, shop.id, randomUUID(), new Date()));
    assert.equal(await runOk(...args), `Shop ${id} is synced again.\n`);
    assert.equal(await findUninstall(store.write, shop.id), null);
    assert.equal(
      await runOk('shopify', 'retry', '--shop', id),
      `0 failed webhooks of shop ${id} will be retried.\n`,
    );
  });
});
