import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Clock } from '../../../src/clock.ts';
import { PlatformError } from '../../../src/platforms/errors.ts';
import { storeBulkResults } from '../../../src/platforms/shopify/sync/intake.ts';
import { bulkPlanGroups } from '../../../src/platforms/shopify/api/queries.ts';
import { claimShop, syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import type { Store } from '../../../src/store/open.ts';
import { findShopifySync } from '../../../src/platforms/shopify/store/syncs.ts';
import { assertSameShop, dumpShop } from '../../model/dump.ts';
import { plan, subscription } from '../../rest/records.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop, importAll } from '../../support/world.ts';
import { importShopify, ordersFile, plans, sampleFile } from './samples.ts';
import type { StandIn, Faults } from './stand-in.ts';
import { sourcesOf } from './stand-in-world.ts';
import { beginSync, syncedShop } from './synced.ts';

const defaults = { full: false, takeOver: false };

onOneDatabase('a sync of a shop from Shopify', (open) => {
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

  /** Another shop, with Shopify's current data imported as from files. */
  async function imported({ standIn }: Awaited<ReturnType<typeof begin>>) {
    const shop = await createShop(store);
    const { synced } = syncedShop(store, shop, standIn);
    await storeBulkResults(synced, sourcesOf(standIn.world));
    return shop;
  }

  test('reads everything first, then changes, then everything after a week', async () => {
    const it = await begin();
    const { standIn, synced, shop, clock } = it;
    const neighbour = await imported(it);
    const untouched = await dumpShop(store.write, neighbour.id);

    const first = await syncShop(synced, defaults);
    const counts = { written: 36, refused: 3, deleted: 0 };
    assert.deepEqual(first, { kind: 'whole', read: { contracts: 11 }, ...counts });
    await assertSameShop(store.write, shop.id, (await imported(it)).id);
    assert.deepEqual(standIn.requests.splice(0), [
      'RunBulkQuery',
      'BulkOperation',
      'BulkOperation',
      'RunBulkQuery',
      'BulkOperation',
      'BulkOperation',
    ]);
    assert.deepEqual(
      (await listFeeds(store.write, shop.id)).map(({ feed }) => feed),
      ['shopify'],
    );

    const nothing = { kind: 'changes', read: { contracts: 0 }, written: 0, refused: 0, deleted: 0 };
    assert.deepEqual(await syncShop(synced, defaults), nothing);
    assert.deepEqual(standIn.requests.splice(0), ['ChangedContracts']);

    clock.advance(7 * 24 * 3_600_000);
    const again = await syncShop(synced, defaults);
    assert.deepEqual(again, {
      kind: 'whole',
      read: { contracts: 11 },
      written: 0,
      refused: 3,
      deleted: 0,
    });
    assert.deepEqual(await dumpShop(store.write, neighbour.id), untouched);
  });

  test('stores the expected subscriptions, the same as from files', async () => {
    const { synced, shop } = await begin();
    await syncShop(synced, defaults);
    const files = await createShop(store);
    await importShopify(store, files, [ordersFile(), sampleFile(plans)]);
    await assertSameShop(store.write, shop.id, files.id);
    const stored = await store.write<
      { id: number; customer: number; plan: number; price: string }[]
    >`
      select subscription_id as id, customer_id as customer, plan_id as plan,
        current_price as price
      from subscriptions where shop_id = ${shop.id} order by 1`;
    assert.deepEqual(
      stored.map(({ id, customer, plan: planId, price }) =>
        [id, customer, planId, price].join(' '),
      ),
      [
        '1001 500001 301 30.6',
        '1002 500002 302 24',
        '1003 500003 301 15.3',
        '1004 500004 303 29',
        '1005 500005 301 15.3',
        '1006 500001 304 99',
        '1007 500007 305 60.6',
        '1008 500008 301 72',
        '1010 8583393439723134 7842138469200290 19.99',
        '1011 500011 306 9',
      ],
    );
  });

  const faults: readonly Partial<Faults>[] = [
    { unavailable: 5 },
    { tooMany: 3, cut: 2 },
    { throttled: 6 },
    { failedOperations: 2 },
    { partialOperations: 2 },
    { brokenDownloads: 4 },
    { shortDownloads: 3 },
    { expiredDownloads: 2 },
    { busy: 3 },
    { failedOperations: 1, partialOperations: 1, brokenDownloads: 2, throttled: 2, unavailable: 2 },
  ];
  for (const fault of faults) {
    test(`stores the same in spite of ${JSON.stringify(fault)}`, async () => {
      const it = await begin();
      Object.assign(it.standIn.faults, fault);
      await syncShop(it.synced, defaults);
      assert.deepEqual(
        Object.values(it.standIn.faults).filter((left) => left > 0),
        [],
      );
      await assertSameShop(store.write, it.shop.id, (await imported(it)).id);
      const { accessToken } = it.standIn;
      assert.ok(
        !it.logLines.some((line) => line.includes(accessToken) || line.includes('Signature')),
      );
    });
  }

  const lasting: readonly (readonly [Partial<Faults>, string])[] = [
    [{ failedOperations: 3 }, 'the bulk query ended as FAILED (INTERNAL_SERVER_ERROR)'],
    [{ partialOperations: 3 }, 'the bulk query returned only part of the data'],
    [{ expiredDownloads: 3 }, 'the signed URL of the bulk query result has expired'],
  ];
  for (const [fault, reason] of lasting) {
    test(`deletes nothing after an incomplete result: ${JSON.stringify(fault)}`, async () => {
      const { standIn, synced, shop, world } = await begin();
      await syncShop(synced, defaults);
      const stored = await dumpShop(store.write, shop.id);
      world.contracts.clear();
      Object.assign(standIn.faults, fault);
      await assert.rejects(syncShop(synced, { ...defaults, full: true }), {
        message: `sample-shop.myshopify.com returned no complete result in 3 bulk queries: ${reason}. Nothing was deleted.`,
      });
      assert.deepEqual(await dumpShop(store.write, shop.id), stored);
      assert.equal((await syncShop(synced, { ...defaults, full: true })).deleted, 11);
    });
  }

  test('stores changes even while bulk queries fail', async () => {
    const { synced, standIn, shop, clock, world } = await begin();
    await syncShop(synced, defaults);
    clock.advance(7 * 24 * 3_600_000);
    const [contract] = world.contracts.values();
    assert.ok(contract);
    contract.node['nextBillingDate'] = '2026-12-25T09:00:00Z';
    contract.node['updatedAt'] = new Date().toISOString();
    standIn.faults.failedOperations = 3;
    await assert.rejects(syncShop(synced, defaults), /returned no complete result/);
    const [row] = await store.write`
      select next_billing_at from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1001`;
    assert.deepEqual(row?.['next_billing_at'], new Date('2026-12-25T09:00:00Z'));
    assert.equal((await syncShop(synced, defaults)).kind, 'whole');
  });

  test('resumes a bulk operation of an earlier process', async () => {
    const it = await begin();
    const { standIn, synced, shop, stopping } = it;
    standIn.bulk.polls = 5;
    const reason = new Error('Enough.');
    it.backoff.wait = async () => {
      if (standIn.requests.length >= 3) stopping.abort(reason);
      stopping.signal.throwIfAborted();
    };
    await assert.rejects(syncShop(synced, defaults), reason);
    assert.equal(standIn.bulk.operations.length, 1);

    const next = syncedShop(store, shop, standIn);
    await syncShop(next.synced, defaults);
    assert.equal(standIn.bulk.operations.length, 2);
    await assertSameShop(store.write, shop.id, (await imported(it)).id);
  });

  test('resumes an operation that was not recorded, but none from yesterday', async () => {
    const { standIn, synced, shop, clock } = await begin();
    // As many as Shopify allows, so that it refuses another one.
    standIn.bulk.run(bulkPlanGroups.replace(/\s+/g, ' '));
    for (let other = 0; other < 4; other += 1) {
      standIn.bulk.run('{ sellingPlanGroups { edges { node { id } } } }');
    }
    await syncShop(synced, defaults);
    assert.equal(standIn.bulk.operations.length, 6);

    await store.write`
      update shopify_syncs set contracts_operation = 'gid://shopify/BulkOperation/1',
        operations_begun_at = ${new Date(clock.now() - 86_400_001)}
      where shop_id = ${shop.id}`;
    standIn.requests.length = 0;
    await syncShop(synced, { ...defaults, full: true });
    assert.equal(standIn.requests.filter((name) => name === 'RunBulkQuery').length, 2);
  });

  test('stops with the given reason at any moment, and completes the next time', async () => {
    const expected = await imported(await begin());
    // Each of the first, and then one in four: a transaction reads the clock more than once.
    for (let moment = 1; ; moment += moment < 8 ? 1 : 4) {
      const it = await begin();
      const { synced, shop, stopping, clock } = it;
      const reason = new Error('Enough.');
      let reads = 0;
      // The sync reads the clock often, and before each transaction.
      const countingClock: Clock = {
        monotonic: () => clock.monotonic(),
        now() {
          reads += 1;
          if (reads === moment) stopping.abort(reason);
          return clock.now();
        },
      };
      const ended = syncShop({ ...synced, clock: countingClock, linesPerTransaction: 8 }, defaults);
      const isWhole = await ended.then(
        () => true,
        (error: unknown) => {
          assert.equal(error, reason);
          return false;
        },
      );
      await syncShop(syncedShop(store, shop, it.standIn).synced, { ...defaults, full: true });
      await assertSameShop(store.write, shop.id, expected.id);
      if (isWhole) return assert.ok(moment > 6, 'It was hardly ever told to.');
    }
  });

  describe('into a shop with data', () => {
    test('from elsewhere replaces that data, but only with takeOver', async () => {
      const it = await begin();
      const { synced, shop } = it;
      await importAll(store, shop, [plan(), subscription(7)]);
      const stored = await dumpShop(store.write, shop.id);
      await assert.rejects(syncShop(synced, defaults), {
        message: `Shop ${shop.id} has data that did not come from Shopify; --take-over deletes what sample-shop.myshopify.com does not have.`,
      });
      assert.deepEqual(await dumpShop(store.write, shop.id), stored);
      assert.equal(await findShopifySync(store.write, shop.id), undefined);
      assert.equal((await syncShop(synced, { full: false, takeOver: true })).deleted, 2);
      await assertSameShop(store.write, shop.id, (await imported(it)).id);
      assert.equal((await syncShop(synced, defaults)).kind, 'changes');
    });

    test('from another Shopify shop replaces that data, but only with takeOver', async () => {
      const { synced, shop } = await begin();
      await syncShop(synced, defaults);
      const client = { ...synced.client, domain: 'other-shop.myshopify.com' };
      await assert.rejects(syncShop({ ...synced, client }, defaults), {
        message: `Shop ${shop.id} belongs to sample-shop.myshopify.com, not to other-shop.myshopify.com; --take-over gives it to other-shop.myshopify.com and deletes what is not there.`,
      });
      const { kind } = await syncShop({ ...synced, client }, { full: false, takeOver: true });
      assert.equal(kind, 'whole');
    });

    test('from another Shopify shop whose first sync was interrupted needs takeOver', async () => {
      const { synced, world } = await begin();
      await claimShop(synced, false);
      await storeBulkResults(synced, sourcesOf(world));
      const client = { ...synced.client, domain: 'other-shop.myshopify.com' };
      const other = syncShop({ ...synced, client }, defaults);
      await assert.rejects(other, /belongs to sample-shop\.myshopify\.com, not to other-shop/);
    });

    test('from Shopify files writes nothing', async () => {
      const it = await begin();
      await storeBulkResults(it.synced, sourcesOf(it.world));
      assert.equal((await syncShop(it.synced, defaults)).written, 0);
    });
  });

  test('fails without changes if Shopify denies access', async () => {
    const { synced, standIn, shop } = await begin();
    standIn.status = 403;
    const error = await syncShop(synced, defaults).catch((reason: unknown) => reason);
    assert.ok(error instanceof PlatformError);
    assert.equal(error.message, 'sample-shop.myshopify.com denies this app access (403).');
    assert.equal((await dumpShop(store.write, shop.id))['plans']?.length, 0);
  });
});
