import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, after, before, test } from 'node:test';
import { leaseDrainMilliseconds } from '../../src/access/keys/key-leases.ts';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { findShop } from '../../src/store/shops.ts';
import { onEveryDatabase, serverUrl } from '../support/databases.ts';
import { holdWaits } from '../support/held-waits.ts';
import { createShop, createTestKey } from '../support/world.ts';
import { begin, runningFolder } from './process.ts';

onEveryDatabase('a command reports', (open, name) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Runs a command that must wait for leases, and checks what is stored, and that nothing is reported, by then. */
  async function runHeld(
    t: TestContext,
    args: readonly string[],
    checkStored: () => Promise<void>,
  ): Promise<string> {
    const place =
      name === 'embedded'
        ? { RETENTION_DATA_DIR: runningFolder() }
        : { DATABASE_URL: serverUrl ?? '' };
    const held = holdWaits(t, leaseDrainMilliseconds);
    const command = begin(args, { env: { ...place, LOG_LEVEL: 'silent' } });
    // A command that does not wait has printed something by then.
    await Promise.race([held.begun, command.ended]);
    await checkStored();
    assert.equal(command.printed(), '');
    held.release();
    const { code, out, err } = await command.ended;
    assert.equal(code, 0, err);
    return out;
  }

  async function shopWithKey() {
    const shop = await createShop(store);
    const { id: keyId } = await createTestKey(store, shop.id);
    const isRevoked = async () => {
      const [key] = await listKeys(store.write, shop.id);
      assert.ok(key?.revokedAt);
    };
    return { shop, keyId, isRevoked };
  }

  // Requirements: rest.auth.revoked-at-once.
  test('that a key is revoked after all leases from before have ended', async (t) => {
    const { shop, keyId, isRevoked } = await shopWithKey();
    const out = await runHeld(t, ['keys', 'revoke', '--shop', String(shop.id), keyId], isRevoked);
    assert.match(out, new RegExp(`^Key ${keyId} is revoked\\.\n`));
  });

  // Requirements: rest.auth.tier-required.
  test('a change of tier after all leases from before have ended', async (t) => {
    const { id } = await createShop(store);
    const out = await runHeld(t, ['shops', 'set-tier', String(id), 'starter'], async () => {
      assert.equal((await findShop(store.write, id))?.tier, 'starter');
    });
    assert.equal(out, `Shop ${id} is now starter.\n`);
  });

  // Requirements: rest.auth.revoked-at-once.
  test('an uninstall after all leases from before have ended', async (t) => {
    const { shop, isRevoked } = await shopWithKey();
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const out = await runHeld(t, ['shopify', 'uninstalled', '--shop', String(shop.id)], isRevoked);
    assert.match(out, new RegExp(`^The keys of shop ${shop.id} are revoked, `));
  });
});
