import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { findShop } from '../../src/store/shops.ts';
import { onEveryDatabase, serverUrl } from '../support/databases.ts';
import { createShop, createTestKey } from '../support/world.ts';
import { launch, runningFolder, throwawayFolder } from './process.ts';

/**
 * Preloaded: holds up the wait for leases until a signal comes, and says that it has begun. It is as long as any lease
 * can last that was read before the commit, and a tenth more.
 */
const holding = path.join(throwawayFolder(), 'holding.mjs');
writeFileSync(
  holding,
  `import { syncBuiltinESMExports } from 'node:module';
  import timers from 'node:timers/promises';
  const wait = timers.setTimeout;
  timers.setTimeout = async (milliseconds, ...rest) => {
    if (milliseconds !== 1100) return wait(milliseconds, ...rest);
    const alive = setInterval(() => {}, 1000);
    const signal = new Promise((resolve) => process.once('SIGUSR2', resolve));
    process.stderr.write('waiting for leases\\n');
    await signal;
    clearInterval(alive);
  };
  syncBuiltinESMExports();`,
);

onEveryDatabase('a command reports', (open, name) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Runs a command that must wait for leases, and checks what is stored, and that nothing is reported, by then. */
  async function runHeld(
    args: readonly string[],
    checkStored: () => Promise<void>,
  ): Promise<string> {
    const place =
      name === 'embedded'
        ? { RETENTION_DATA_DIR: runningFolder() }
        : { DATABASE_URL: serverUrl ?? '' };
    const env = { ...place, LOG_LEVEL: 'silent', NODE_OPTIONS: `--import=file://${holding}` };
    const command = launch(args, { env });
    let reported = '';
    command.child.stdout?.on('data', (text: string) => (reported += text));
    await command.logged(/^waiting for leases$/m);
    await checkStored();
    assert.equal(reported, '');
    command.child.kill('SIGUSR2');
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
  test('that a key is revoked after all leases from before have ended', async () => {
    const { shop, keyId, isRevoked } = await shopWithKey();
    const out = await runHeld(['keys', 'revoke', '--shop', String(shop.id), keyId], isRevoked);
    assert.match(out, new RegExp(`^Key ${keyId} is revoked\\.\n`));
  });

  // Requirements: rest.auth.tier-required.
  test('a change of tier after all leases from before have ended', async () => {
    const { id } = await createShop(store);
    const out = await runHeld(['shops', 'set-tier', String(id), 'starter'], async () => {
      assert.equal((await findShop(store.write, id))?.tier, 'starter');
    });
    assert.equal(out, `Shop ${id} is now starter.\n`);
  });

  // Requirements: rest.auth.revoked-at-once.
  test('an uninstall after all leases from before have ended', async () => {
    const { shop, isRevoked } = await shopWithKey();
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const out = await runHeld(['shopify', 'uninstalled', '--shop', String(shop.id)], isRevoked);
    assert.match(out, new RegExp(`^The keys of shop ${shop.id} are revoked, `));
  });
});
