import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { storeBulkResults } from '../../../src/platforms/shopify/sync/intake.ts';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import type { Store } from '../../../src/store/open.ts';
import { findShopifySync } from '../../../src/platforms/shopify/store/syncs.ts';
import { assertSameShop, dumpShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { success } from './nodes.ts';
import type { StandIn } from './stand-in.ts';
import { type StandInContract, sourcesOf } from './stand-in-world.ts';
import { beginSync, syncedShop } from './synced.ts';

const changesOnly = { full: false, takeOver: false };
const fullSync = { full: true, takeOver: false };
const gidOf = (id: number) => `gid://shopify/SubscriptionContract/${id}`;

onOneDatabase('a sync of changes in Shopify', (open) => {
  let store: Store;
  const standIns: StandIn[] = [];
  before(() => {
    store = open();
  });
  after(async () => {
    await store.close();
    for (const standIn of standIns) await standIn.close();
  });

  /** A shop after a full sync, without the requests recorded so far. */
  async function begin() {
    const it = await beginSync(store, standIns);
    const { standIn } = it;
    await syncShop(it.synced, changesOnly);
    standIn.requests.length = 0;
    const contract = (id: number) => standIn.world.contracts.get(gidOf(id)) as StandInContract;
    /** Changes a contract, dated some seconds ago. */
    const change = (id: number, fields: object, secondsAgo = 0) => {
      const updatedAt = new Date(Date.now() - secondsAgo * 1000).toISOString();
      Object.assign(contract(id).node, fields, { updatedAt });
    };
    return { ...it, contract, change };
  }

  const watermarkOf = async (shopId: number) =>
    (await findShopifySync(store.write, shopId))?.watermark?.getTime() ?? 0;

  test('stores a new date that no webhook reports', async () => {
    const { synced, shop, change } = await begin();
    change(1001, { nextBillingDate: '2026-12-25T09:00:00Z' });
    const report = await syncShop(synced, changesOnly);
    assert.deepEqual(report, {
      kind: 'changes',
      read: { contracts: 1 },
      written: 3,
      refused: 0,
      deleted: 0,
    });
    const [row] = await store.write`
      select next_billing_at from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1001`;
    assert.deepEqual(row?.['next_billing_at'], new Date('2026-12-25T09:00:00Z'));
  });

  test('estimates amounts that are withheld by the price at the time, and keeps known ones', async () => {
    const { synced, shop, change, contract } = await begin();
    const { lines, attempts } = contract(1001);
    const [line, attempt] = [lines[0], attempts[0]];
    assert.ok(line && attempt);
    lines[0] = { ...line, currentPrice: { amount: '20.0', currencyCode: 'USD' } } as typeof line;
    attempts.push({
      ...attempt,
      id: 'gid://shopify/SubscriptionBillingAttempt/2999',
      originTime: '2026-11-20T09:00:00Z',
      completedAt: '2026-11-20T09:00:00Z',
      state: success(null),
    });
    attempt['state'] = success(null);
    change(1001, {});
    await syncShop(synced, changesOnly);
    const amounts = async () => {
      const rows = await store.write<{ id: number; amount: string }[]>`
        select payment_id as id, amount::float8 as amount from payments
        where shop_id = ${shop.id} and subscription_id = 1001 order by 1`;
      return rows.map(({ id, amount }) => [id, amount]);
    };
    assert.deepEqual(await amounts(), [
      [2001, 33.05],
      [2999, 40],
      [6090246513263435, 33.05],
    ]);
    await syncShop(synced, fullSync);
    assert.deepEqual(await amounts(), [
      [2001, 33.05],
      [2999, 40],
      [6090246513263435, 33.05],
    ]);
  });

  test('reads all pages of contracts, and of their lines and attempts', async () => {
    const { synced, shop, standIn, change, contract, world } = await begin();
    for (const id of [1001, 1006, 1007, 1008, 1011]) change(id, {});
    for (const place of [100, 101, 102, 103]) {
      const [line] = contract(1001).lines;
      const id = `gid://shopify/SubscriptionLine/00000000-0000-4000-8000-000000000${place}`;
      // Free of charge, because stored payments keep their amount.
      const free = { amount: '0.0', currencyCode: 'USD' };
      contract(1001).lines.push({ ...line, id, title: `Line ${place}`, currentPrice: free });
      const [attempt] = contract(1001).attempts;
      const attemptId = `gid://shopify/SubscriptionBillingAttempt/${place}`;
      contract(1001).attempts.push({ ...attempt, id: attemptId, state: success(null) });
    }
    const report = await syncShop(synced, changesOnly);
    assert.deepEqual([report.read['contracts'], report.refused], [5, 0]);
    const countRequests = (name: string) => standIn.requests.filter((each) => each === name).length;
    assert.deepEqual(
      ['ChangedContracts', 'Contract', 'ContractLines', 'ContractAttempts'].map(countRequests),
      [2, 5, 2, 2],
    );
    const other = await createShop(store);
    await storeBulkResults(syncedShop(store, other, standIn).synced, sourcesOf(world));
    await assertSameShop(store.write, shop.id, other.id);
  });

  test('finds a change that Shopify reports minutes late', async () => {
    const { synced, shop, change } = await begin();
    change(1001, { nextBillingDate: '2026-12-25T09:00:00Z' });
    await syncShop(synced, changesOnly);
    const watermark = await watermarkOf(shop.id);
    change(1003, { nextBillingDate: '2026-12-26T09:00:00Z' }, 240);
    const { read, written } = await syncShop(synced, changesOnly);
    assert.deepEqual([read, written], [{ contracts: 2 }, 3]);
    assert.ok((await watermarkOf(shop.id)) >= watermark);
  });

  test('moves the watermark only once its changes are stored, and never back', async () => {
    const { synced, shop, change, standIn, stopping } = await begin();
    await store.write`
      update shopify_syncs set watermark = ${new Date(Date.now() - 600_000)}
      where shop_id = ${shop.id}`;
    for (const id of [1001, 1002, 1003, 1004]) change(id, {}, 300 - 60 * (id - 1000));
    const [second, fourth] = [1002, 1004].map((id) => standIn.world.contracts.get(gidOf(id)));
    const reason = new Error('Enough.');
    standIn.world.contractsPerPage = 2;
    const { query } = synced.client;
    const client = {
      ...synced.client,
      query: (async (document, variables) => {
        if (variables?.['id'] === fourth?.node.id) stopping.abort(reason);
        stopping.signal.throwIfAborted();
        return query(document, variables);
      }) satisfies typeof query,
    };
    await assert.rejects(syncShop({ ...synced, client }, changesOnly), reason);
    const between = await watermarkOf(shop.id);
    assert.equal(between, Date.parse(String(second?.node['updatedAt'])));

    const next = syncedShop(store, shop, standIn);
    assert.equal((await syncShop(next.synced, changesOnly)).read['contracts'], 4);
    const last = await watermarkOf(shop.id);
    assert.ok(last > between);
    await store.write`
      update shopify_syncs set watermark = '2030-01-01' where shop_id = ${shop.id}`;
    await syncShop(next.synced, changesOnly);
    await syncShop(next.synced, fullSync);
    assert.equal(await watermarkOf(shop.id), Date.UTC(2030, 0, 1));
  });

  test('becomes a full sync if there are too many changes', async () => {
    const { synced, standIn, world, contract } = await begin();
    const { node, lines } = contract(1001);
    const updatedAt = new Date().toISOString();
    for (let id = 5000; id < 7001; id += 1) {
      const own = lines.map((line) => ({
        ...line,
        id: `gid://shopify/SubscriptionLine/00000000-0000-4000-8000-00000000${id}`,
      }));
      const changed = { ...node, id: gidOf(id), updatedAt };
      world.contracts.set(gidOf(id), { node: changed, lines: own, attempts: [] });
    }
    world.contractsPerPage = 100;
    const report = await syncShop(synced, changesOnly);
    // The first twenty pages were stored before the last one showed that there are too many.
    assert.deepEqual([report.kind, report.read['contracts'], report.written], ['whole', 2012, 2]);
    assert.equal(standIn.requests.filter((name) => name === 'Contract').length, 2000);
  });

  test('deletes missing contracts, but none that is present, refused or new', async () => {
    const { synced, shop, standIn, world, contract, change } = await begin();
    const other = await createShop(store);
    await storeBulkResults(syncedShop(store, other, standIn).synced, sourcesOf(world));
    const untouched = await dumpShop(store.write, other.id);

    world.contracts.delete(gidOf(1002));
    change(1003, { currencyCode: 'CAD' });
    // As if created after the bulk query began: neither in its result nor found by id.
    await store.write`
      update subscriptions set created_at = ${new Date()}
      where shop_id = ${shop.id} and subscription_id = 1004`;
    const recent = contract(1004);
    world.contracts.delete(gidOf(1004));
    // Missing only from the bulk result.
    world.hidden.add(gidOf(1005));

    const report = await syncShop(synced, fullSync);
    assert.deepEqual([report.read['contracts'], report.deleted], [8, 1]);
    const stored = await store.write`
      select subscription_id as id from subscriptions where shop_id = ${shop.id} order by 1`;
    assert.deepEqual(
      stored.map(({ id }) => id),
      [1001, 1003, 1004, 1005, 1006, 1007, 1008, 1010, 1011],
    );
    assert.deepEqual(await dumpShop(store.write, other.id), untouched);

    world.contracts.set(gidOf(1004), recent);
    world.contracts.clear();
    const [payments] = await store.write`
      select count(*)::int as count from payments where shop_id = ${shop.id}`;
    assert.notEqual(payments?.['count'], 0);
    await store.write`
      update subscriptions set created_at = '2026-01-01' where shop_id = ${shop.id}`;
    assert.equal((await syncShop(synced, fullSync)).deleted, 10);
    const dump = await dumpShop(store.write, shop.id);
    assert.deepEqual([dump['subscriptions'], dump['payments'], dump['customers']], [[], [], []]);
  });

  test('deletes missing selling plans, but deactivates one that is still in use', async () => {
    const { synced, shop, world } = await begin();
    const plansOf = async () =>
      (
        await store.write<{ id: number; active: boolean; used: boolean }[]>`
          select plan_id as id, active, exists (
              select from subscriptions s where s.shop_id = ${shop.id} and s.plan_id = p.plan_id
            ) as used
          from plans p where shop_id = ${shop.id} order by 1`
      ).map(({ id, active, used }) => `${id} ${active} ${used}`);
    const stored = await plansOf();
    assert.ok(stored.includes('301 true true') && stored.includes('307 true false'));
    const group = world.groups.get('gid://shopify/SellingPlanGroup/201');
    assert.ok(group);
    const all = group.plans;
    group.plans = all.filter(({ id }) => !/301|307/.test(id));
    assert.equal((await syncShop(synced, fullSync)).deleted, 1);
    assert.deepEqual(
      await plansOf(),
      stored
        .filter((each) => !each.startsWith('307'))
        .map((each) => each.replace('301 true', '301 false')),
    );
    group.plans = all;
    await syncShop(synced, fullSync);
    assert.deepEqual(await plansOf(), stored);
  });

  test('deletes everything if the shop is empty', async () => {
    const { synced, shop, world } = await begin();
    world.contracts.clear();
    world.groups.clear();
    const report = await syncShop(synced, fullSync);
    assert.deepEqual(report, {
      kind: 'whole',
      read: { contracts: 0 },
      written: 0,
      refused: 0,
      deleted: 18,
    });
    const dump = await dumpShop(store.write, shop.id);
    assert.deepEqual([dump['subscriptions'], dump['plans']], [[], []]);
  });
});
