import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listFeeds } from '../../src/store/feeds/feeds.ts';
import { listJobCounts, retryFailedJobs } from '../../src/store/feeds/jobs.ts';
import type { Store } from '../../src/store/open.ts';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { until } from '../support/until.ts';
import { createShop } from '../support/world.ts';
import { onOwnDatabases } from '../support/own-databases.ts';
import { putContract, putPlanGroup, removeContract } from './source.ts';
import { deliverWebhook, startWebhookWorld, untilQuiet } from './world.ts';

onOwnDatabases('webhooks that hint at changes', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  before(async () => {
    store = open();
    world = await startWebhookWorld(store);
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const subscriptions = (shopId = world.shop.id) => store.write`
    select subscription_id as id, customer_id as customer, plan_id as plan, status,
      (select product_title from subscription_lines l
        where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id) as title,
      (select count(*)::int from payments p
        where p.shop_id = s.shop_id and p.subscription_id = s.subscription_id) as payments
    from subscriptions s where shop_id = ${shopId} order by 1`;
  const plans = () => store.write`
    select plan_id as id, name, group_name as "group", active from plans
    where shop_id = ${world.shop.id} order by 1`;
  const send = async (topic: string, body: object, event?: string) =>
    assert.equal((await world.send(topic, body, event ? { event } : {})).status, 200);
  const takeRequests = () => world.standIn.requests.splice(0);

  test('store the contract as the source has it, whatever the webhook says', async () => {
    putContract(world.source, 1001, { paid: [2011] });
    await send('subscription_contracts/create', { id: 1001, status: 'cancelled', customer_id: 9 });
    await untilQuiet(store);
    const row = { id: 1001, customer: 501_001, plan: 301, title: 'Coffee' };
    assert.deepEqual([...(await subscriptions())], [{ ...row, status: 'active', payments: 1 }]);
    const [feed] = await listFeeds(store.write, world.shop.id);
    assert.equal(feed?.feed, 'shopify-webhooks');
    assert.equal(feed.newestAt?.toISOString(), '2026-11-01T00:01:00.000Z');

    // Attempts and cycles name their contract, cycles as text.
    const paid = { paid: [2011, 2012], updatedAt: '2026-11-02T00:00:00Z' };
    putContract(world.source, 1001, paid);
    await send('subscription_billing_attempts/success', { id: 7, subscription_contract_id: 1001 });
    await untilQuiet(store);
    assert.deepEqual([...(await subscriptions())], [{ ...row, status: 'active', payments: 2 }]);
    putContract(world.source, 1001, {
      ...paid,
      updatedAt: '2026-11-03T00:00:00Z',
      status: 'PAUSED',
    });
    await send('subscription_billing_cycles/skip', { subscription_contract_id: '1001' });
    await untilQuiet(store);
    assert.deepEqual([...(await subscriptions())], [{ ...row, status: 'paused', payments: 2 }]);

    removeContract(world.source, 1001);
    await send('subscription_contracts/update', { id: 1001 });
    await untilQuiet(store);
    assert.deepEqual([...(await subscriptions())], []);
  });

  test('are processed once per event, in any order and on any instance', async () => {
    const second = await world.startService();
    const event = randomUUID();
    putContract(world.source, 1002, { status: 'CANCELLED' });
    takeRequests();
    await send('subscription_contracts/cancel', { id: 1002 }, event);
    await untilQuiet(store);
    for (const { baseUrl } of [world.service, second, world.service]) {
      const again = await deliverWebhook(
        baseUrl,
        world.domain,
        'subscription_contracts/cancel',
        { id: 1002 },
        { event },
      );
      assert.equal(again.status, 200);
    }
    // An earlier event arrives later.
    await send('subscription_contracts/create', { id: 1002 });
    await untilQuiet(store);
    assert.deepEqual(takeRequests(), ['Contract', 'Contract']);
    assert.deepEqual(
      (await subscriptions()).map(({ id, status }) => [id, status]),
      [[1002, 'cancelled']],
    );

    // Without an event id the webhook id counts; without either, each webhook does.
    const nameless = { 'x-shopify-event-id': '', 'x-shopify-webhook-id': '' };
    const named = { ...nameless, 'x-shopify-webhook-id': event };
    for (const headers of [named, named, nameless, nameless]) {
      await world.send('subscription_contracts/pause', { id: 1002 }, { headers });
      await untilQuiet(store);
    }
    assert.equal(takeRequests().length, 3);

    // One event may have several topics.
    await send('subscription_contracts/update', { id: 1002 }, event);
    await untilQuiet(store);
    assert.deepEqual(takeRequests(), ['Contract']);
    await second.close();
  });

  test('are merged while they wait, without losing one that arrives during a query', async () => {
    putContract(world.source, 1003, { title: 'Before' });
    const gate = Promise.withResolvers<void>();
    world.standIn.pause = () => gate.promise;
    takeRequests();
    await send('subscription_contracts/create', { id: 1003 });
    await until(() => world.standIn.requests.length >= 1);
    // The pending response was prepared before this change.
    putContract(world.source, 1003, { title: 'After', updatedAt: '2026-11-02T00:00:00Z' });
    // Now both workers are busy, so all others wait.
    await send('subscription_contracts/update', { id: 1003 });
    await until(() => world.standIn.requests.length >= 2);
    for (let each = 0; each < 5; each += 1)
      await send('subscription_contracts/update', { id: 1003 });
    gate.resolve();
    await untilQuiet(store);
    const title = (await subscriptions()).find(({ id }) => id === 1003)?.['title'];
    assert.equal(title, 'After');
    assert.ok(takeRequests().length <= 4);
    world.standIn.pause = async () => {};
  });

  test('store selling plans, and delete those that are gone', async () => {
    putContract(world.source, 1004);
    await send('subscription_contracts/create', { id: 1004 });
    putPlanGroup(world.source, 201, 'Subscribe & save', [301, 302, 303]);
    await send('selling_plan_groups/create', { id: 201 });
    await untilQuiet(store);
    const plan = { group: 'Subscribe & save', active: true };
    const all = [301, 302, 303].map((id) => ({ id, name: `Plan ${id}`, ...plan }));
    assert.deepEqual([...(await plans())], all);

    putPlanGroup(world.source, 201, 'Subscribe & save', [301, 302]);
    await send('selling_plan_groups/update', { id: 201 });
    await untilQuiet(store);
    assert.deepEqual([...(await plans())], all.slice(0, 2));

    // A contract is still on plan 301.
    putPlanGroup(world.source, 201, 'Subscribe & save', []);
    await send('selling_plan_groups/delete', { id: 201 });
    await untilQuiet(store);
    assert.deepEqual([...(await plans())], [{ ...all[0], active: false }]);
  });

  test('fail for a shop without credentials, and can be retried', async () => {
    const shop = await createShop(store);
    const domain = `shop-${randomUUID()}.myshopify.com`;
    await linkShopifyShop(store.write, { shopId: shop.id, domain });
    const { baseUrl } = world.service;
    const sent = await deliverWebhook(baseUrl, domain, 'subscription_contracts/create', {
      id: 1005,
    });
    assert.equal(sent.status, 200);
    await untilQuiet(store);
    const failed = [{ shopId: shop.id, queue: 'hints', state: 'failed', jobs: 1 }];
    assert.deepEqual([...(await listJobCounts(store.write))], failed);
    const [job] = await store.write<{ output: object }[]>`
      select output from jobs.job where state = 'failed'`;
    const reason = `Shop ${shop.id} is not connected to Shopify.`;
    assert.deepEqual(job?.output, { reason });

    assert.equal(await retryFailedJobs(store.write, shop.id), 1);
    assert.equal(await retryFailedJobs(store.write, world.shop.id), 0);
    await untilQuiet(store);
    assert.deepEqual([...(await listJobCounts(store.write))], failed);
    await store.write`delete from jobs.job where state = 'failed'`;
  });

  test('are of the shop that has the domain now', async () => {
    const shops = [await createShop(store), await createShop(store)];
    const domain = `shop-${randomUUID()}.myshopify.com`;
    for (const { id: shopId } of shops) {
      await linkShopifyShop(store.write, { shopId, domain });
      await deliverWebhook(world.service.baseUrl, domain, 'subscription_contracts/create', {
        id: 1008,
      });
      await untilQuiet(store);
    }
    // Neither has credentials.
    const failed = (await listJobCounts(store.write)).map(({ shopId, jobs }) => [shopId, jobs]);
    assert.deepEqual(failed.toSorted(), shops.map(({ id }) => [id, 1]).toSorted());
    await store.write`delete from jobs.job where state = 'failed'`;
  });

  test('fail if part of the contract is refused', async () => {
    putContract(world.source, 1006).node['currencyCode'] = 'CAD';
    await send('subscription_contracts/create', { id: 1006 });
    await untilQuiet(store);
    const states = (await listJobCounts(store.write)).map(({ state, jobs }) => [state, jobs]);
    assert.deepEqual(states, [['failed', 1]]);
    await store.write`delete from jobs.job where state = 'failed'`;
  });

  test('of one shop do not affect another', async () => {
    const { shop, domain } = world.other;
    putContract(world.source, 1007);
    const own = [...(await subscriptions())];
    const { baseUrl } = world.service;
    await deliverWebhook(baseUrl, domain, 'subscription_contracts/create', { id: 1007 });
    await untilQuiet(store);
    assert.deepEqual(
      (await subscriptions(shop.id)).map(({ id }) => id),
      [1007],
    );
    assert.deepEqual([...(await subscriptions())], own);
  });
});
