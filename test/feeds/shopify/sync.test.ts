import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Clock } from '../../../src/clock.ts';
import { PlatformError } from '../../../src/platforms/errors.ts';
import { takeResults } from '../../../src/platforms/shopify/sync/intake.ts';
import { bulkPlanGroups } from '../../../src/platforms/shopify/api/queries.ts';
import { syncShop } from '../../../src/platforms/shopify/sync/sync-shop.ts';
import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import type { Store } from '../../../src/store/open.ts';
import { findShopifySync } from '../../../src/platforms/shopify/store/syncs.ts';
import { assertSameShop, dumpShop } from '../../model/dump.ts';
import { plan, subscription } from '../../rest/records.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { createShop, importAll } from '../../support/world.ts';
import { flat, importShopify, plans, sampleFile } from './samples.ts';
import type { StandIn, Troubles } from './stand-in.ts';
import { sourcesOf } from './stand-in-world.ts';
import { beginSync, syncedShop } from './synced.ts';

const usual = { whole: false, takeOver: false };

onEveryDatabase('a shop as it is in Shopify', (open) => {
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

  /** Another shop, into which what Shopify has by now is imported as files are. */
  async function imported({ standIn }: Awaited<ReturnType<typeof begin>>) {
    const shop = await createShop(store);
    const { synced } = syncedShop(store, shop, standIn);
    await takeResults(synced, sourcesOf(standIn.world));
    return shop;
  }

  test('everything the first time, then what changed, then everything after a day', async () => {
    const it = await begin();
    const { standIn, synced, shop, clock } = it;
    const neighbour = await imported(it);
    const untouched = await dumpShop(store.write, neighbour.id);

    const first = await syncShop(synced, usual);
    assert.deepEqual(first, {
      kind: 'whole',
      read: { contracts: 11 },
      written: 27,
      refused: 3,
      deleted: 0,
    });
    await assertSameShop(store.write, shop.id, (await imported(it)).id);
    assert.deepEqual(standIn.asked.splice(0), [
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
    assert.deepEqual(await syncShop(synced, usual), nothing);
    assert.deepEqual(standIn.asked.splice(0), ['ChangedContracts']);

    clock.advance(24 * 3_600_000);
    const again = await syncShop(synced, usual);
    assert.deepEqual(again, {
      kind: 'whole',
      read: { contracts: 11 },
      written: 0,
      refused: 3,
      deleted: 0,
    });
    assert.deepEqual(await dumpShop(store.write, neighbour.id), untouched);
  });

  test('the world that was worked out by hand', async () => {
    const { synced, shop } = await begin();
    await syncShop(synced, usual);
    const files = await createShop(store);
    await importShopify(store, files, [sampleFile(flat), sampleFile(plans)]);
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

  const troubles: readonly Partial<Troubles>[] = [
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
  for (const trouble of troubles) {
    test(`the same world in spite of ${JSON.stringify(trouble)}`, async () => {
      const it = await begin();
      Object.assign(it.standIn.troubles, trouble);
      await syncShop(it.synced, usual);
      assert.deepEqual(
        Object.values(it.standIn.troubles).filter((left) => left > 0),
        [],
      );
      await assertSameShop(store.write, it.shop.id, (await imported(it)).id);
      const { accessToken } = it.standIn;
      assert.ok(!it.said.some((line) => line.includes(accessToken) || line.includes('Signature')));
    });
  }

  const hopeless: readonly (readonly [Partial<Troubles>, string])[] = [
    [{ failedOperations: 3 }, 'the bulk query ended as FAILED (INTERNAL_SERVER_ERROR)'],
    [{ partialOperations: 3 }, 'the bulk query found a part only'],
    [{ expiredDownloads: 3 }, 'the address of the result of the bulk query has expired'],
  ];
  for (const [trouble, reason] of hopeless) {
    test(`no part is taken for the whole: ${JSON.stringify(trouble)}`, async () => {
      const { standIn, synced, shop, world } = await begin();
      await syncShop(synced, usual);
      const stored = await dumpShop(store.write, shop.id);
      world.contracts.clear();
      Object.assign(standIn.troubles, trouble);
      await assert.rejects(syncShop(synced, { ...usual, whole: true }), {
        message: `sample-shop.myshopify.com gave no whole result in 3 bulk queries: ${reason}. Nothing was deleted.`,
      });
      assert.deepEqual(await dumpShop(store.write, shop.id), stored);
      assert.equal((await syncShop(synced, { ...usual, whole: true })).deleted, 11);
    });
  }

  test('changes come even while bulk queries fail', async () => {
    const { synced, standIn, shop, clock, world } = await begin();
    await syncShop(synced, usual);
    clock.advance(24 * 3_600_000);
    const [contract] = world.contracts.values();
    assert.ok(contract);
    contract.node['nextBillingDate'] = '2026-12-25T09:00:00Z';
    contract.node['updatedAt'] = new Date().toISOString();
    standIn.troubles.failedOperations = 3;
    await assert.rejects(syncShop(synced, usual), /gave no whole result/);
    const [row] = await store.write`
      select next_billing_at from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1001`;
    assert.deepEqual(row?.['next_billing_at'], new Date('2026-12-25T09:00:00Z'));
    assert.equal((await syncShop(synced, usual)).kind, 'whole');
  });

  test('an operation of an earlier process is taken up again', async () => {
    const it = await begin();
    const { standIn, synced, shop, stopping } = it;
    standIn.bulk.looks = 5;
    const reason = new Error('Enough.');
    it.pauses.wait = async () => {
      if (standIn.asked.length >= 3) stopping.abort(reason);
      stopping.signal.throwIfAborted();
    };
    await assert.rejects(syncShop(synced, usual), reason);
    assert.equal(standIn.bulk.operations.length, 1);

    const next = syncedShop(store, shop, standIn);
    await syncShop(next.synced, usual);
    assert.equal(standIn.bulk.operations.length, 2);
    await assertSameShop(store.write, shop.id, (await imported(it)).id);
  });

  test('so is one that was begun and could not be noted, and none that is of yesterday', async () => {
    const { standIn, synced, shop, clock } = await begin();
    standIn.bulk.run(bulkPlanGroups.replace(/\s+/g, ' '));
    await syncShop(synced, usual);
    assert.equal(standIn.bulk.operations.length, 2);

    await store.write`
      update shopify_syncs set contracts_operation = 'gid://shopify/BulkOperation/1',
        operations_begun_at = ${new Date(clock.now() - 86_400_001)}
      where shop_id = ${shop.id}`;
    standIn.asked.length = 0;
    await syncShop(synced, { ...usual, whole: true });
    assert.equal(standIn.asked.filter((name) => name === 'RunBulkQuery').length, 2);
  });

  test('told to end at any moment, it ends with the reason, and goes on the next time', async () => {
    for (let moment = 1; ; moment += 1) {
      const it = await begin();
      const { synced, shop, stopping, clock } = it;
      const reason = new Error('Enough.');
      let looks = 0;
      // It looks at the clock now and then, before each transaction too.
      const watched: Clock = {
        monotonic: () => clock.monotonic(),
        now() {
          looks += 1;
          if (looks === moment) stopping.abort(reason);
          return clock.now();
        },
      };
      const ended = syncShop({ ...synced, clock: watched, linesPerTransaction: 8 }, usual);
      const isWhole = await ended.then(
        () => true,
        (error: unknown) => {
          assert.equal(error, reason);
          return false;
        },
      );
      await syncShop(syncedShop(store, shop, it.standIn).synced, { ...usual, whole: true });
      await assertSameShop(store.write, shop.id, (await imported(it)).id);
      if (isWhole) return assert.ok(moment > 6, 'It was hardly ever told to.');
    }
  });

  describe('which shops it takes', () => {
    test('one with data from elsewhere only if told so, and then deletes that', async () => {
      const it = await begin();
      const { synced, shop } = it;
      await importAll(store, shop, [plan(), subscription(7)]);
      const stored = await dumpShop(store.write, shop.id);
      await assert.rejects(syncShop(synced, usual), {
        message: `Shop ${shop.id} has data that did not come from Shopify; --take-over deletes what sample-shop.myshopify.com does not have.`,
      });
      assert.deepEqual(await dumpShop(store.write, shop.id), stored);
      assert.equal(await findShopifySync(store.write, shop.id), undefined);
      assert.equal((await syncShop(synced, { whole: false, takeOver: true })).deleted, 2);
      await assertSameShop(store.write, shop.id, (await imported(it)).id);
      assert.equal((await syncShop(synced, usual)).kind, 'changes');
    });

    test('one of another Shopify shop only if told so', async () => {
      const { synced, shop } = await begin();
      await syncShop(synced, usual);
      const client = { ...synced.client, domain: 'other-shop.myshopify.com' };
      await assert.rejects(syncShop({ ...synced, client }, usual), {
        message: `Shop ${shop.id} belongs to sample-shop.myshopify.com, not to other-shop.myshopify.com; --take-over gives it to other-shop.myshopify.com and deletes what is not there.`,
      });
      const { kind } = await syncShop({ ...synced, client }, { whole: false, takeOver: true });
      assert.equal(kind, 'whole');
    });

    test('one that came from files of Shopify as it is', async () => {
      const it = await begin();
      await takeResults(it.synced, sourcesOf(it.world));
      assert.equal((await syncShop(it.synced, usual)).written, 0);
    });
  });

  test('a token that is not accepted is said, and nothing is changed', async () => {
    const { synced, standIn, shop } = await begin();
    standIn.status = 403;
    const error = await syncShop(synced, usual).catch((reason: unknown) => reason);
    assert.ok(error instanceof PlatformError);
    assert.equal(error.message, 'sample-shop.myshopify.com does not let this app in (403).');
    assert.equal((await dumpShop(store.write, shop.id))['plans']?.length, 0);
  });
});
