import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const line = (lineId: number, variantId: number, currentPrice: string, more: object = {}) => ({
  lineId,
  productId: 81,
  productTitle: 'House Blend',
  variantId,
  quantity: 1,
  currentPrice,
  ...more,
});

onOneDatabase('lines that a feed does not know', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Stores a subscription, then another record of it; returns the stored lines. */
  async function linesAfter(record: object, isFromFeed = true) {
    const shop = await createShop(store);
    const lines = [
      line(1, 91, '10.00'),
      line(2, 92, '5.123456789012', { intervalUnit: 'year', intervalCount: 1 }),
    ];
    const plans = [plan(), plan({ id: 12, intervalUnit: 'week', intervalCount: 2 })];
    await importAll(store, shop, [...plans, subscription(1001, { lines })]);
    const { refused } = await importAll(store, shop, [subscription(1001, record)], isFromFeed);
    assert.deepEqual(refused, []);
    const rows = await store.write<{ text: string }[]>`
      select concat_ws(' ', line_id, variant_id, quantity || ' x', trim_scale(current_price),
        interval_count, interval_unit) as text
      from subscription_lines where shop_id = ${shop.id} order by position`;
    return rows.map(({ text }) => text);
  }
  const unknown = { preserve: 'price' };

  test('keep the price and the interval of their variant, not the quantity', async () => {
    const lines = [line(1, 92, '0', { quantity: 3, ...unknown }), line(2, 91, '12.00')];
    assert.deepEqual(await linesAfter({ lines }), [
      '1 92 3 x 5.123456789012 1 year',
      '2 91 1 x 12',
    ]);
  });

  test('have the price in the record if their variant is not stored, each stored line once', async () => {
    const lines = [
      line(1, 93, '7.00', unknown),
      line(2, 91, '0', unknown),
      line(3, 91, '0', unknown),
    ];
    assert.deepEqual(await linesAfter({ lines }), ['1 93 1 x 7', '2 91 1 x 10', '3 91 1 x 0']);
  });

  test('keep their interval when the subscription is on another plan', async () => {
    const lines = [line(1, 91, '0', unknown)];
    assert.deepEqual(await linesAfter({ planId: 12, lines }), ['1 91 1 x 10 1 month']);
  });

  test('stay if the feed says that it does not have them all', async () => {
    const lines = [line(1, 92, '6.00')];
    assert.deepEqual(await linesAfter({ lines, stays: ['lines'] }), ['1 92 1 x 6', '2 91 1 x 10']);
    assert.deepEqual(await linesAfter({ lines }), ['1 92 1 x 6']);
  });

  test('are taken as they are without a feed', async () => {
    const lines = [line(1, 91, '0.00', unknown)];
    assert.deepEqual(await linesAfter({ lines, stays: ['lines'] }, false), ['1 91 1 x 0']);
  });

  test('leave a customer what is paid for, unless the feed or a record of our own says otherwise', async () => {
    const paidThroughAt = '2026-12-20T00:00:00.000Z';
    const left = async (record: object, isFromFeed: boolean) => {
      const shop = await createShop(store);
      await importAll(store, shop, [plan(), subscription(1001, { paidThroughAt })]);
      const ended = { status: 'cancelled', stays: ['paidThroughAt'], ...record };
      const { refused } = await importAll(store, shop, [subscription(1001, ended)], isFromFeed);
      assert.deepEqual(refused, []);
      const [row] = await store.write<{ at: Date | null }[]>`
        select paid_through_at as at from subscriptions where shop_id = ${shop.id}`;
      return row?.at?.toISOString() ?? null;
    };
    const earlier = '2026-11-18T00:00:00.000Z';
    assert.equal(await left({ paidThroughAt: null }, true), paidThroughAt);
    assert.equal(await left({ paidThroughAt: earlier }, true), earlier);
    assert.equal(await left({ paidThroughAt: null }, false), null);
  });

  test('leave what is paid for as the newest export that has it says, when an older one comes later', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    const exported = (date: string, paidThroughAt?: string) => {
      const stays = paidThroughAt === undefined ? ['paidThroughAt'] : undefined;
      const record = { updatedAt: null, exportedAt: `${date}T00:00:00.000Z`, paidThroughAt, stays };
      return importAll(store, shop, [subscription(1001, record)], true);
    };
    const newest = '2026-12-20T00:00:00.000Z';
    await exported('2026-11-10', newest);
    await exported('2026-11-12');
    await exported('2026-11-05');
    await exported('2026-11-04', '2026-11-20T00:00:00.000Z');
    const [row] = await store.write<{ at: Date | null }[]>`
      select paid_through_at as at from subscriptions where shop_id = ${shop.id}`;
    assert.equal(row?.at?.toISOString(), newest);
  });
});
