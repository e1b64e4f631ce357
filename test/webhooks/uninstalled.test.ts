import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { findUninstall, markReinstalled } from '../../src/platforms/shopify/store/shops.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { auditOf } from '../support/audit.ts';
import { createTestKey, get } from '../support/world.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { putContract } from './source.ts';
import { startWebhookWorld, untilQuiet } from './world.ts';

onOneOwnDatabase('a shop whose app is uninstalled', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  const logged: { readonly msg: string; readonly keyId?: string; readonly cause?: string }[] = [];
  before(async () => {
    store = open();
    const log = createLog('info', {
      write: (text) =>
        void logged.push(
          ...text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ),
    });
    world = await startWebhookWorld(store, { log });
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const body = (updatedAt = '2026-11-01T09:00:00-05:00') => ({
    id: 954889,
    email: 'owner@example.com',
    myshopify_domain: world.domain,
    updated_at: updatedAt,
  });

  test('has no valid keys on any instance once acknowledged, and is no longer synced', async () => {
    const { shop, other, service } = world;
    const second = await world.startService();
    const keys = [await createTestKey(store, shop.id), await createTestKey(store, shop.id)];
    const theirs = await createTestKey(store, other.shop.id);
    const owner = await signedInOwner({ store, clock: systemClock, service, shop });
    const ask = (baseUrl: string, key: string) =>
      get(`${baseUrl}/api/external/v1/plans`, key).then(({ status }) => status);
    const askAll = async () => {
      const all = [...keys, theirs].flatMap(({ key }) => [
        ask(service.baseUrl, key),
        ask(second.baseUrl, key),
      ]);
      return Promise.all(all);
    };
    // From here on both instances hold leases.
    assert.deepEqual(await askAll(), [200, 200, 200, 200, 200, 200]);

    const event = randomUUID();
    assert.equal((await world.send('app/uninstalled', body(), { event })).status, 200);
    assert.deepEqual(await askAll(), [401, 401, 401, 401, 200, 200]);
    assert.ok(await findUninstall(store.write, shop.id));
    assert.equal(await findUninstall(store.write, other.shop.id), null);

    const log = await auditOf(store.write, shop.id, 'key_');
    assert.deepEqual(
      log.map(({ who, what, target }) => [who, what, target?.split(' ')[0]]).toSorted(),
      keys.map(({ id }) => ['platform shopify', 'key_uninstalled', id]).toSorted(),
    );
    assert.deepEqual(
      logged
        .filter(({ msg }) => msg === 'key revoked')
        .map(({ keyId, cause }) => [cause, keyId])
        .toSorted(),
      keys.map(({ id }) => ['uninstall', id]).toSorted(),
    );
    const page = await owner.visitor.get(`/app/shops/${shop.id}/keys`);
    assert.match(page.text, /Shopify revoked the key .*, because the app was uninstalled/);

    putContract(world.source, 1001);
    await world.send('subscription_contracts/update', { id: 1001 });
    await untilQuiet(store);
    assert.deepEqual(world.standIn.requests, []);

    // After a reinstall with a new key, bodies signed earlier have no effect, whatever their id.
    const reinstalledAt = new Date('2026-11-10T00:00:00Z');
    assert.equal(await markReinstalled(store.write, shop.id, reinstalledAt), true);
    const { key } = await createTestKey(store, shop.id);
    const older = body('2026-11-09T18:59:59-05:00');
    for (const [sent, options] of [[body(), { event }], [body()], [older]] as const) {
      assert.equal((await world.send('app/uninstalled', sent, options)).status, 200);
    }
    assert.equal(await findUninstall(store.write, shop.id), null);
    assert.equal(await ask(service.baseUrl, key), 200);
    await world.send('subscription_contracts/update', { id: 1001 });
    await untilQuiet(store);
    assert.deepEqual(world.standIn.requests, ['Contract']);

    const newer = body('2026-11-09T19:00:00-05:00');
    assert.equal((await world.send('app/uninstalled', newer)).status, 200);
    assert.equal(await ask(second.baseUrl, key), 401);
    const [newest] = (await listKeys(store.write, shop.id)).toReversed();
    assert.ok(newest?.revokedAt);
  });
});
