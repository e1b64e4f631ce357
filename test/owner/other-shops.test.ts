import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccounts } from '../../src/accounts/sessions.ts';
import { ownerRoutes } from '../../src/owner/routes.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, createTestKey, importAll, startWorld } from '../support/world.ts';
import { signedInOwner } from './visitor.ts';

onOneDatabase('every page of a shop', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('responds 404 to the owner of another shop', async () => {
    const { store, clock, shop } = world;
    const records = [plan({ name: 'Plan of another' }), subscription(1001), session(7001)];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const { id } = await createTestKey(store, shop.id);
    const own = await createShop(store);
    const { visitor } = await signedInOwner(world, { shopId: own.id });
    const routes = ownerRoutes({
      store,
      clock,
      accounts: createAccounts(store.write, clock),
      baseUrl: () => world.service.baseUrl,
      isPublic: false,
      platforms: { platforms: {}, credentialsKeys: [], baseUrl: undefined },
      pauses: undefined,
      uploads: {} as never,
      sendsMail: false,
      calls: {} as never,
      askWithKey: () => assert.fail(),
      log: { error: assert.fail } as never,
    });
    const values: Record<string, string> = {
      shopId: String(shop.id),
      keyId: id,
      subscriptionId: '1001',
      platform: 'shopify',
      sourceId: 'src_0',
      month: '2026-11',
    };
    const ofShop = routes.filter(({ url }) => url.includes(':shopId'));
    assert.ok(ofShop.length > 20, String(ofShop.length));
    for (const { method, url } of ofShop) {
      const path = url.replace(/:(\w+)/g, (_, name: string) => {
        assert.ok(values[name] !== undefined, `${url} has a new parameter`);
        return values[name];
      });
      await visitor.get('/app/account');
      const { status, text } = await (method === 'GET' ? visitor.get(path) : visitor.post(path));
      assert.equal(status, 404, `${method} ${url}`);
      assert.match(text, /This page does not exist/, `${method} ${url}`);
      assert.doesNotMatch(text, /Plan of another/);
    }
  });
});
