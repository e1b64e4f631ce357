import assert from 'node:assert/strict';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import {
  listDataRequests,
  findUninstall,
  linkShopifyShop,
  markReinstalled,
} from '../../src/platforms/shopify/store/shops.ts';
import { listJobCounts } from '../../src/store/feeds/jobs.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import { findShop, insertShop } from '../../src/store/shops.ts';
import { doDuty } from '../../src/platforms/shopify/webhooks/duties.ts';
import { plan, subscription } from '../rest/records.ts';
import { createShop, createTestKey, importAll } from '../support/world.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { listRows } from './search.ts';
import { deliverWebhook, sendWebhook, startWebhookWorld, untilQuiet } from './world.ts';

const samples = path.join(import.meta.dirname, '../feeds/shopify/samples/webhooks');
const { vectors } = JSON.parse(readFileSync(path.join(samples, 'hmac-vectors.json'), 'utf8')) as {
  vectors: { file: string; headers: Record<string, string> }[];
};
const destructive = ['app/uninstalled', 'customers/redact', 'shop/redact'];

onOneOwnDatabase('signed bodies sent again, or under another topic', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  /** A shop with one subscription of customer 500003 and one key. */
  let shopId: number;
  let domain: string;
  before(async () => {
    store = open();
    world = await startWebhookWorld(store);
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  beforeEach(async () => {
    domain = `shop-${randomUUID()}.myshopify.com`;
    const shop = await createShop(store);
    shopId = shop.id;
    await linkShopifyShop(store.write, { shopId, domain });
    await importAll(store, shop, [plan(), { ...subscription(1001), customerId: 500_003 }]);
    await createTestKey(store, shopId);
  });

  /** Shopify's sample of a topic, for the shop with this domain. */
  const sample = (topic: string, shop = domain): object => {
    const text = readFileSync(path.join(samples, `${topic.replace('/', '__')}.json`), 'utf8');
    return JSON.parse(text.replaceAll('sample-shop.myshopify.com', shop));
  };
  /** Sends a signed body with a new event id. */
  const send = async (topic: string, body = sample(topic), shop = domain) => {
    const { baseUrl } = world.service;
    assert.equal((await deliverWebhook(baseUrl, shop, topic, body)).status, 200, topic);
    await untilQuiet(store);
  };
  const hasKey = async (id = shopId) =>
    (await listKeys(store.write, id)).some(({ revokedAt }) => revokedAt === null);
  const customers = async () =>
    (
      await store.write<{ customer: number }[]>`
        select customer_id as customer from subscriptions where shop_id = ${shopId}`
    ).map(({ customer }) => customer);
  const failedJobs = async () =>
    (await listJobCounts(store.write))
      .filter((count) => count.shopId === shopId)
      .reduce((sum, { jobs }) => sum + jobs, 0);
  const reinstall = async () => {
    await markReinstalled(store.write, shopId, new Date('2026-11-21T00:00:00Z'));
    await createTestKey(store, shopId);
  };
  /** All stored rows, except those about the job library itself. */
  const rows = async () =>
    (await listRows(store)).filter(({ table }) => !/^jobs\.(?!job)|warning/.test(table));

  test('delete nothing under a topic that they do not match', async () => {
    const uninstalled = { id: (await createShop(store)).id, domain: `x-${domain}` };
    await linkShopifyShop(store.write, { shopId: uninstalled.id, domain: uninstalled.domain });
    const { domain: uninstalledDomain } = uninstalled;
    await send('app/uninstalled', sample('app/uninstalled', uninstalledDomain), uninstalledDomain);
    const kept = await rows();
    for (const topic of destructive) {
      const others = vectors.map((each) => each.headers['X-Shopify-Topic'] as string);
      for (const other of others.filter((each) => each !== topic)) {
        await send(topic, sample(other));
        await send(topic, sample(other, uninstalledDomain), uninstalledDomain);
      }
    }
    assert.equal(destructive.length * 2 * (vectors.length - 1), 90);
    assert.deepEqual(await rows(), kept);
  });

  test('delete nothing if they only resemble the body of the topic', async () => {
    await send('app/uninstalled');
    const kept = await rows();
    const [install, customer, shop] = destructive.map((topic) => sample(topic)) as [
      object,
      object,
      object,
    ];
    const unfit: [topic: string, body: object][] = [
      ...destructive.flatMap((topic): [string, object][] => [
        [topic, {}],
        [topic, []],
        [topic, [sample(topic)]],
      ]),
      ['app/uninstalled', { ...install, id: undefined }],
      ['app/uninstalled', { ...install, myshopify_domain: null }],
      ['app/uninstalled', { ...install, updated_at: 'yesterday' }],
      ['customers/redact', { ...customer, shop_id: undefined }],
      ['customers/redact', { ...customer, orders_to_redact: undefined }],
      ['customers/redact', { ...customer, orders_to_redact: 70_003 }],
      ['customers/redact', { ...customer, customer: 500_003 }],
      ['customers/redact', { ...customer, customer: { id: '5e5' } }],
      ['shop/redact', { ...shop, shop_id: undefined }],
      ['shop/redact', { ...shop, shop_id: 0 }],
      ['shop/redact', { ...shop, id: 954_889 }],
      ['shop/redact', { ...shop, customer: null }],
    ];
    for (const [topic, body] of unfit) await send(topic, body);
    assert.deepEqual(await rows(), kept);
  });

  test('delete nothing of a shop that the body does not name', async () => {
    await send('app/uninstalled');
    const kept = await rows();
    const { domain: other } = world.other;
    for (const topic of destructive) {
      await send(topic, sample(topic), other);
      await send(topic, sample(topic, other), domain);
      await send(topic, sample(topic, 'sample-shop.myshopify.com'), 'sample-shop.myshopify.com');
    }
    assert.deepEqual(await rows(), kept);
  });

  test('delete a shop only while its app is uninstalled', async () => {
    // They count as one event, so an attacker cannot fill the queue.
    for (let each = 0; each < 3; each += 1) await send('shop/redact');
    assert.deepEqual(await customers(), [500_003]);
    assert.ok(await hasKey());
    assert.equal(await failedJobs(), 1);

    await send('app/uninstalled');
    assert.ok(!(await hasKey()));
    await reinstall();
    for (let each = 0; each < 3; each += 1) {
      await send('shop/redact');
      await send('app/uninstalled');
    }
    assert.equal(await findUninstall(store.write, shopId), null);
    assert.deepEqual(await customers(), [500_003]);
    assert.ok(await hasKey());
    assert.equal(await failedJobs(), 2);

    await send('app/uninstalled', { ...sample('app/uninstalled'), name: 'Another name' });
    await send('shop/redact');
    assert.equal(await findShop(store.write, shopId), undefined);
    assert.equal(await failedJobs(), 0);
  });

  test('do not affect a shop that was deleted and created again', async () => {
    await send('app/uninstalled');
    await send('shop/redact');
    assert.equal(await findShop(store.write, shopId), undefined);
    const createdAt = new Date('2026-11-20T12:00:00Z');
    await insertShop(store.write, {
      id: shopId,
      name: 'Back',
      tier: 'growth',
      currency: 'USD',
      createdAt,
    });
    await linkShopifyShop(store.write, { shopId, domain });
    await createTestKey(store, shopId);
    await send('app/uninstalled');
    await send('shop/redact');
    assert.ok(await findShop(store.write, shopId));
    assert.ok(await hasKey());
  });

  test('redact a customer once', async () => {
    await send('customers/redact');
    assert.notDeepEqual(await customers(), [500_003]);
    // A replayed body does not delete what is stored for the customer from here on.
    await send('customers/data_request');
    for (let each = 0; each < 2; each += 1) await send('customers/redact');
    const requestedBy = async () =>
      (await listDataRequests(store.write, shopId)).map(({ customerId }) => customerId);
    assert.deepEqual(await requestedBy(), [500_003]);
    await send('customers/redact', { ...sample('customers/redact'), orders_to_redact: [] });
    assert.deepEqual(await requestedBy(), []);
  });

  test('take effect exactly once if the server dies in between', async () => {
    const failing = async (table: string, when: string) => {
      const { write: sql } = store;
      await sql.unsafe(`
        create function fail() returns trigger language plpgsql as $$
          begin raise exception 'as if the server had died'; end $$`);
      await sql.unsafe(`create trigger fail before ${when} on ${table} execute function fail()`);
      return () => store.write.unsafe('drop function fail cascade');
    };
    const job = {
      kind: 'redactCustomer',
      customerId: 500_003,
      shopId,
      topic: 'customers/redact',
      event: randomUUID(),
      receivedAt: '2026-11-20T12:00:00.000Z',
    } as const;
    const context = { sql: store.write, deleteShop: async () => assert.fail('no shop') };
    const restoreCustomers = await failing('customers', 'delete');
    await assert.rejects(doDuty(context, job), /as if the server had died/);
    await restoreCustomers();
    assert.deepEqual(await customers(), [500_003]);
    await doDuty(context, job);
    assert.notDeepEqual(await customers(), [500_003]);
    // As if it died after the redaction, before the job was completed; then the customer returns.
    await send('customers/data_request');
    await doDuty(context, job);
    assert.equal((await listDataRequests(store.write, shopId)).length, 1);

    const restoreKeys = await failing('api_keys', 'update');
    const webhook = [domain, 'app/uninstalled', sample('app/uninstalled')] as const;
    assert.equal((await sendWebhook(world.service.baseUrl, ...webhook)).status, 503);
    await restoreKeys();
    assert.ok(await hasKey());
    assert.equal(await findUninstall(store.write, shopId), null);
    await send('app/uninstalled');
    assert.ok(!(await hasKey()));
  });

  test('stop deleting a shop whose app is reinstalled meanwhile', async () => {
    let transactions = 0;
    const by = { by: { who: 'platform shopify' }, at: new Date() };
    const check = async () => {
      transactions += 1;
      if (transactions === 3) throw new Error('it is back');
    };
    await assert.rejects(deleteShop(store.write, shopId, { ...by, check }), /it is back/);
    assert.ok(await findShop(store.write, shopId));
    await deleteShop(store.write, shopId, by);
    assert.equal(await findShop(store.write, shopId), undefined);
  });

  test('for a former domain of the shop do not affect it', async () => {
    await send('app/uninstalled');
    const next = `next-${domain}`;
    await linkShopifyShop(store.write, { shopId, domain: next });
    await send('shop/redact', sample('shop/redact', next), next);
    assert.deepEqual(await customers(), [500_003]);
    // An instance may still have the former domain cached.
    await send('app/uninstalled', { ...sample('app/uninstalled'), name: 'Another name' });
    await send('customers/redact');
    assert.equal(await findUninstall(store.write, shopId), null);
    assert.deepEqual(await customers(), [500_003]);
  });
});
