import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import type { StandIn } from './stand-in.ts';
import { beginSync } from './synced.ts';

const webhookAddress = 'https://retention.example/webhooks/shopify';
const changes = { full: false, takeOver: false };

onOneDatabase('a synced shop and its webhooks', (open) => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(() => {
    store = open();
  });
  after(async () => {
    for (const each of standIns) await each.close();
    await store.close();
  });

  test('is subscribed at the first sync, and again once a day', async () => {
    const { synced, standIn, clock, logLines } = await beginSync(store, standIns);
    await syncShop({ ...synced, webhookAddress }, changes);
    const { length } = standIn.webhooks.all;
    assert.ok(length > 10);
    assert.ok(standIn.webhooks.all.every(({ uri }) => uri === webhookAddress));
    standIn.webhooks.all.splice(0, 2);
    await syncShop({ ...synced, webhookAddress }, changes);
    assert.equal(standIn.webhooks.all.length, length - 2);
    clock.advance(25 * 3_600_000);
    await syncShop({ ...synced, webhookAddress }, changes);
    assert.equal(standIn.webhooks.all.length, length);
    const told = logLines.filter((line) => line.includes('"subscribed to webhooks"'));
    assert.equal(told.length, 2);
  });

  test('is not subscribed without an address that Shopify can reach', async () => {
    const { synced, standIn } = await beginSync(store, standIns);
    await syncShop(synced, changes);
    assert.deepEqual(standIn.webhooks.all, []);
  });
});
