import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { uninstall } from '../../src/platforms/shopify/webhooks/duties.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import { onOneDatabase } from '../support/databases.ts';
import { holdWaits } from '../support/held-waits.ts';
import { createShop, createTestKey, now, silentLog } from '../support/world.ts';

/** As long as any lease can last that was read before the commit, and a tenth more. */
const drainMilliseconds = 1100;

onOneDatabase('an uninstall', (open) => {
  // Requirements: rest.auth.revoked-at-once.
  test('is acknowledged after all leases from before have ended, also when it is repeated', async (t) => {
    const store = open();
    t.after(() => store.close());
    const shop = await createShop(store);
    await createTestKey(store, shop.id);
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const event = randomUUID();
    for (let delivery = 1; delivery <= 2; delivery += 1) {
      await t.test(`delivery ${delivery}`, async (held) => {
        const waits = holdWaits(held, drainMilliseconds);
        const handled = uninstall(
          { sql: store.write, log: silentLog },
          { shopId: shop.id, domain, event, updatedAt: null, receivedAt: new Date(now) },
        );
        const first = await Promise.race([
          waits.begun.then(() => 'wait'),
          handled.then(() => 'acknowledged'),
        ]);
        assert.equal(first, 'wait');
        const [key] = await listKeys(store.write, shop.id);
        assert.ok(key?.revokedAt);
        waits.release();
        assert.equal(await handled, undefined);
      });
    }
  });
});
