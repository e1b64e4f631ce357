import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PlatformError } from '../../../src/platforms/errors.ts';
import { findShopifySync } from '../../../src/platforms/shopify/store/syncs.ts';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import type { StandIn } from './stand-in.ts';
import { beginSync } from './synced.ts';

const defaults = { full: false, takeOver: false };

onOneDatabase('syncs of shops from Shopify, one after the other', (open) => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(() => {
    store = open();
  });
  after(async () => {
    await store.close();
    for (const standIn of standIns) await standIn.close();
  });

  const begin = () => beginSync(store, standIns);

  test('a mistyped domain can be corrected until the first sync has succeeded', async () => {
    const { synced, standIn, shop } = await begin();
    const named = (domain: string) => ({ ...synced, client: { ...synced.client, domain } });
    for (const domain of ['sampel-shop.myshopify.com', 'sample-shopp.myshopify.com']) {
      standIn.status = 404;
      await assert.rejects(syncShop(named(domain), defaults), PlatformError);
      assert.equal((await findShopifySync(store.write, shop.id))?.domain, domain);
    }
    standIn.status = undefined;
    assert.equal((await syncShop(synced, defaults)).kind, 'whole');

    await assert.rejects(syncShop(named('sampel-shop.myshopify.com'), defaults), {
      message: `Shop ${shop.id} belongs to sample-shop.myshopify.com, not to sampel-shop.myshopify.com; --take-over gives it to sampel-shop.myshopify.com and deletes what is not there.`,
    });
    assert.equal((await syncShop(synced, defaults)).kind, 'changes');
  });

  test('logs once for all shops that the support for the API version ends', async () => {
    const [first, second] = [await begin(), await begin()];
    for (const { synced, clock } of [first, second]) {
      clock.advance(800 * 86_400_000);
      await syncShop(synced, defaults);
    }
    const warnings = [...first.logLines, ...second.logLines].filter((line) =>
      line.includes('Shopify has not supported version'),
    );
    assert.equal(warnings.length, 1);
  });
});
