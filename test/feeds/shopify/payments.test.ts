import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { storeBulkResults } from '../../../src/platforms/shopify/sync/intake.ts';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import { markReinstalled } from '../../../src/platforms/shopify/store/shops.ts';
import { findShopifySync } from '../../../src/platforms/shopify/store/syncs.ts';
import type { Store } from '../../../src/store/open.ts';
import { dumpShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { billed, order, refund, success } from './nodes.ts';
import type { StandIn } from './stand-in.ts';
import { type Node, type StandInContract, sourcesOf } from './stand-in-world.ts';
import { beginSync, syncedShop } from './synced.ts';

const defaults = { full: false, takeOver: false };
const day = 24 * 3_600_000;
const gidOf = (id: number) => `gid://shopify/SubscriptionContract/${id}`;
const pending = { __typename: 'SubscriptionBillingAttemptPendingState' };
const declined = {
  __typename: 'SubscriptionBillingAttemptFailedState',
  error: { __typename: 'SubscriptionBillingAttemptPaymentError', code: 'CARD_DECLINED' },
};
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();

onOneDatabase('a daily sync of payments from Shopify', (open) => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(() => {
    store = open();
  });
  after(async () => {
    await store.close();
    for (const standIn of standIns) await standIn.close();
  });

  /** A plan that was read without contracts has the same columns, and another digest. */
  async function rowsOf(shopId: number) {
    const dump = await dumpShop(store.write, shopId);
    const plans = dump['plans']?.map((row) => row.replace(/"digest": "[^"]+"/, ''));
    return { ...dump, plans: plans?.toSorted() };
  }

  /** A shop whose full sync is a day old, without the requests recorded so far. */
  async function begin() {
    const it = await beginSync(store, standIns);
    const { standIn, shop, synced, clock } = it;
    await syncShop(synced, defaults);
    standIn.requests.length = 0;
    clock.advance(day);
    const contract = (id: number) => standIn.world.contracts.get(gidOf(id)) as StandInContract;
    /** An attempt, of which the contract does not say that it changed. */
    const bill = (id: number, attemptId: number, at: string, state: object) => {
      contract(id).attempts.push(billed(id, attemptId, at, state) as Node);
    };
    /** Compares the shop with another one that has everything that Shopify has. */
    const assertCurrent = async () => {
      const other = await createShop(store);
      await storeBulkResults(syncedShop(store, other, standIn).synced, sourcesOf(standIn.world));
      assert.deepEqual(await rowsOf(shop.id), await rowsOf(other.id));
    };
    const fetched = () => standIn.requests.filter((name) => name === 'Contract').length;
    return { ...it, contract, bill, assertCurrent, fetched };
  }

  test('reads no contract if everything is stored', async () => {
    const { synced, standIn, shop, assertCurrent } = await begin();
    // Shopify's clock has whole seconds: two syncs may be in the same one.
    await store.write`
      update shopify_syncs set payments_watermark = payments_watermark - interval '1 minute'
      where shop_id = ${shop.id}`;
    const earlier = await findShopifySync(store.write, shop.id);
    const { kind, read } = await syncShop(synced, defaults);
    assert.deepEqual([kind, read], ['payments', { contracts: 0 }]);
    const bulk = ['RunBulkQuery', 'BulkOperation', 'BulkOperation'];
    assert.deepEqual(standIn.requests, ['ChangedContracts', ...bulk, ...bulk, ...bulk]);
    await assertCurrent();
    const state = await findShopifySync(store.write, shop.id);
    assert.deepEqual(state?.reconciledAt, earlier?.reconciledAt);
    assert.ok(Number(state?.paymentsWatermark) > Number(earlier?.paymentsWatermark));
    assert.deepEqual([state?.plansOperation, state?.operationsBegunAt], [null, null]);
  });

  test('fetches the contracts whose attempts and refunds are not stored, and no others', async () => {
    const { synced, shop, contract, bill, assertCurrent, fetched } = await begin();
    bill(1001, 2901, ago(60_000), success(order(72_901, '33.05')));
    bill(1003, 2902, ago(60_000), declined);
    // A first order, and the order of an attempt.
    const { state } = contract(1001).attempts[0] as { state?: { order?: unknown } };
    for (const [index, each] of [contract(1007).node['originOrder'], state?.order].entries()) {
      const { refunds } = each as { refunds: object[] };
      refunds.push(refund(80_901 + index, `${index + 1}.0`, ago(30_000)));
    }
    const { kind, read } = await syncShop(synced, defaults);
    assert.deepEqual([kind, read, fetched()], ['payments', { contracts: 3 }, 3]);
    const [refunded] = await store.write`
      select count(*)::int as count from refunds where shop_id = ${shop.id} and amount in (1, 2)`;
    assert.equal(refunded?.['count'], 2);
    await assertCurrent();
  });

  test('finds out what became of an attempt days after its creation', async () => {
    const { synced, shop, contract, bill, assertCurrent, fetched } = await begin();
    bill(1001, 2901, ago(5 * day), pending);
    await syncShop(synced, defaults);
    const statusOf = async () => {
      const [row] = await store.write`
        select status from payments where shop_id = ${shop.id} and payment_id = 2901`;
      return row?.['status'];
    };
    assert.equal(await statusOf(), 'pending');
    Object.assign(contract(1001).attempts.at(-1) as Node, {
      completedAt: ago(1000),
      state: success(order(72_901, '33.05')),
    });
    await syncShop(synced, defaults);
    assert.deepEqual([await statusOf(), fetched()], ['succeeded', 2]);
    await assertCurrent();
  });

  test('leaves alone what it cannot store: contracts that were refused', async () => {
    const { synced, shop, bill, fetched } = await begin();
    const [refused] = await store.write`
      select count(*)::int as count from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1009`;
    assert.equal(refused?.['count'], 0);
    bill(1009, 2901, ago(60_000), success(order(72_901, '33.05')));
    assert.equal((await syncShop(synced, defaults)).kind, 'payments');
    assert.equal(fetched(), 0);
  });

  test('fetches selling plans', async () => {
    const { synced, world, assertCurrent } = await begin();
    const [group] = world.groups.values();
    assert.ok(group);
    group.plans[0] = { ...group.plans[0], name: 'Renamed' } as Node;
    const unused = group.plans.findIndex(({ id }) => id.endsWith('307'));
    if (unused >= 0) group.plans.splice(unused, 1);
    const report = await syncShop(synced, defaults);
    assert.deepEqual([report.kind, report.deleted], ['payments', unused >= 0 ? 1 : 0]);
    await assertCurrent();
  });

  test('leaves to the weekly full sync what neither changes nor payments show', async () => {
    const { synced, world, clock, contract, assertCurrent } = await begin();
    contract(1001).node['nextBillingDate'] = '2026-12-25T09:00:00Z';
    world.contracts.delete(gidOf(1002));
    const daily = await syncShop(synced, defaults);
    assert.deepEqual([daily.kind, daily.read, daily.deleted], ['payments', { contracts: 0 }, 0]);
    clock.advance(6 * day);
    const weekly = await syncShop(synced, defaults);
    assert.deepEqual([weekly.kind, weekly.deleted], ['whole', 1]);
    await assertCurrent();
  });

  test('continues where the last one ended, in whatever process', async () => {
    const { synced, standIn, shop, bill, assertCurrent } = await begin();
    bill(1001, 2901, ago(60_000), success(order(72_901, '33.05')));
    const reason = new Error('Enough.');
    const { query } = synced.client;
    const client = {
      ...synced.client,
      query: (async (document, variables) => {
        if (document.startsWith('query Contract(')) throw reason;
        return query(document, variables);
      }) satisfies typeof query,
    };
    const earlier = await findShopifySync(store.write, shop.id);
    await assert.rejects(syncShop({ ...synced, client }, defaults), reason);
    const between = await findShopifySync(store.write, shop.id);
    assert.deepEqual(between?.paymentsWatermark, earlier?.paymentsWatermark);

    const next = syncedShop(store, shop, standIn);
    next.clock.advance(day);
    assert.deepEqual((await syncShop(next.synced, defaults)).read, { contracts: 1 });
    await assertCurrent();
    const since = standIn.bulk.operations
      .map((each) => /created_at:>='(.+?)'/.exec(each.query)?.[1] ?? '')
      .filter((at) => at !== '');
    const expected = new Date(Number(earlier?.paymentsWatermark) - 7 * day).toISOString();
    assert.deepEqual(since, [expected, expected]);
  });

  test('reads everything if Shopify does not answer the queries', async () => {
    const { synced, standIn, bill, logLines, assertCurrent } = await begin();
    bill(1001, 2901, ago(60_000), success(order(72_901, '33.05')));
    const { query } = synced.client;
    const client = {
      ...synced.client,
      query: (async (document, variables) =>
        query(document, {
          ...variables,
          ...(String(variables?.['query']).includes('orders(') && { query: '{ shop { id } }' }),
        })) satisfies typeof query,
    };
    assert.equal((await syncShop({ ...synced, client }, defaults)).kind, 'whole');
    const reason = 'sample-shop.myshopify.com refused a bulk query (INVALID).';
    assert.ok(logLines.some((line) => line.includes(reason)));
    assert.ok(standIn.bulk.operations.some((each) => each.query.includes('subscriptionContracts')));
    await assertCurrent();
  });

  test('reads everything if too much is missing', async () => {
    const { synced, world, shop, clock, fetched } = await begin();
    const sample = world.contracts.get(gidOf(1001)) as StandInContract;
    for (let id = 5000; id < 7001; id += 1) {
      const line = `gid://shopify/SubscriptionLine/00000000-0000-4000-8000-00000000${id}`;
      world.contracts.set(gidOf(id), {
        node: { ...sample.node, id: gidOf(id), originOrder: null },
        lines: sample.lines.slice(0, 1).map((each) => ({ ...each, id: line })),
        attempts: [],
      });
    }
    await syncShop(synced, { ...defaults, full: true });
    for (let id = 5000; id < 7001; id += 1) {
      const attempt = billed(id, id, ago(1000), declined) as Node;
      (world.contracts.get(gidOf(id)) as StandInContract).attempts.push(attempt);
    }
    clock.advance(day);
    assert.equal((await syncShop(synced, defaults)).kind, 'whole');
    const [failed] = await store.write`
      select count(*)::int as count from payments
      where shop_id = ${shop.id} and payment_id between 5000 and 7000`;
    assert.deepEqual([failed?.['count'], fetched()], [2001, 0]);
  });

  test('reads everything once the app was installed again', async () => {
    const it = await begin();
    const neighbour = await begin();
    await markReinstalled(store.write, it.shop.id, new Date());
    assert.equal((await syncShop(it.synced, defaults)).kind, 'whole');
    assert.equal((await syncShop(it.synced, defaults)).kind, 'payments');
    assert.equal((await syncShop(neighbour.synced, defaults)).kind, 'payments');
  });

  test('changes nothing of another shop', async () => {
    const [it, neighbour] = [await begin(), await begin()];
    const untouched = await dumpShop(store.write, neighbour.shop.id);
    const state = await findShopifySync(store.write, neighbour.shop.id);
    it.bill(1001, 2901, ago(60_000), success(order(72_901, '33.05')));
    assert.equal((await syncShop(it.synced, defaults)).kind, 'payments');
    assert.deepEqual(await dumpShop(store.write, neighbour.shop.id), untouched);
    assert.deepEqual(await findShopifySync(store.write, neighbour.shop.id), state);
  });
});
