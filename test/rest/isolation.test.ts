import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  startWorld,
  type World,
} from '../support/world.ts';
import { line, plan, session, subscription } from './records.ts';

/** Records with the same ids in every shop; their texts contain the shop's mark. */
const recordsOf = (mark: string, price: string, status: string) => [
  plan({ name: `Plan of ${mark}` }),
  subscription(1001, {
    status,
    lines: [{ ...line, productTitle: `Product of ${mark}`, currentPrice: price }],
  }),
  session(7001, { detectedReason: mark === 'A' ? 'not_using' : 'other' }),
];

onOneDatabase('isolation of shops', (open) => {
  let world: World;
  const shopWith = async (records: object[]) => {
    const shop = await createShop(world.store);
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { key } = await createTestKey(world.store, shop.id);
    return async (path: string) => (await get(world.base + path, key)).body;
  };

  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  // Requirements: rest.service.shop-scoped.
  test('shows two shops with the same ids only their own records', async () => {
    const sendA = await shopWith(recordsOf('A', '1.00', 'active'));
    const sendB = await shopWith(recordsOf('B', '2.00', 'paused'));
    for (const [send, mark, price, status, reason] of [
      [sendA, 'A', 1, 'active', 'not_using'],
      [sendB, 'B', 2, 'paused', 'other'],
    ] as const) {
      const entitlements = await send('/entitlements?customerId=501');
      assert.equal(entitlements.subscriptions.length, 1);
      assert.equal(entitlements.subscriptions[0].planName, `Plan of ${mark}`);
      assert.equal(entitlements.subscriptions[0].status, status);
      const listing = await send('/subscriptions');
      assert.equal(listing.subscriptions.length, 1);
      assert.equal(listing.subscriptions[0].currentPrice, price * 2);
      const { subscription: detail } = await send('/subscriptions/1001');
      assert.equal(detail.planName, `Plan of ${mark}`);
      assert.equal(detail.lineItems.length, 1);
      assert.equal(detail.lineItems[0].productTitle, `Product of ${mark}`);
      const { summary } = await send('/metrics/summary');
      assert.equal(summary.activeSubscribers, status === 'active' ? 1 : 0);
      assert.equal(summary.pausedSubscribers, status === 'paused' ? 1 : 0);
      const { plans } = await send('/plans');
      assert.deepEqual(
        plans.map((each: { name: string }) => each.name),
        [`Plan of ${mark}`],
      );
      const { cancellations } = await send('/cancellations');
      assert.deepEqual(
        cancellations.map((each: { detectedReason: string }) => each.detectedReason),
        [reason],
      );
    }
  });

  // Requirements: rest.entitlements.other-shop.
  test("treats another shop's ids as unknown", async () => {
    await shopWith(recordsOf('A', '1.00', 'active'));
    const send = await shopWith([]);
    assert.deepEqual(await send('/entitlements?customerId=501'), { subscriptions: [] });
    assert.deepEqual(await send('/subscriptions'), { subscriptions: [], nextCursor: null });
    assert.deepEqual(await send('/subscriptions/1001'), {
      success: false,
      message: 'Subscription not found.',
    });
    assert.deepEqual(await send('/plans'), { plans: [] });
    assert.deepEqual(await send('/cancellations'), { cancellations: [], nextCursor: null });
    const { summary } = await send('/metrics/summary');
    assert.deepEqual([...new Set(Object.values(summary))], [0, '2026-11-20T12:00:00.000Z', 'USD']);
  });

  // Requirements: rest.service.read-only.
  test('changes no stored data by any request', async () => {
    const send = await shopWith(recordsOf('A', '1.00', 'active'));
    const paths = ['/entitlements?customerId=501', '/subscriptions', '/subscriptions/1001'];
    paths.push('/metrics/summary', '/plans', '/cancellations');
    const answers = async () => {
      const bodies = [];
      for (const path of paths) bodies.push(await send(path));
      return bodies;
    };
    assert.deepEqual(await answers(), await answers());
    await assert.rejects(
      world.store.primary.keys`delete from plans where shop_id = ${world.shop.id}`,
      /read-only transaction/,
    );
    await assert.rejects(
      world.store.primary.analyse`delete from plans where shop_id = ${world.shop.id}`,
      /read-only transaction/,
    );
  });
});
