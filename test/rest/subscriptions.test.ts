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
import { line, plan, subscription } from './records.ts';

/** A subscription with these lines. */
const priced = (...lines: [price: string, quantity: number][]) =>
  subscription(1001, {
    lines: lines.map(([currentPrice, quantity], index) => ({
      ...line,
      lineId: index + 1,
      currentPrice,
      quantity,
    })),
  });

onOneDatabase('GET /subscriptions', (open) => {
  let world: World;
  let url: string;

  /** A new shop with these records, and a function that lists its subscriptions. */
  const shopWith = async (records: object[], currency = 'USD') => {
    const shop = await createShop(world.store, { currency });
    assert.deepEqual((await importAll(world.store, shop, [plan(), ...records])).refused, []);
    const { key } = await createTestKey(world.store, shop.id);
    const page = async (query: string) => {
      const { status, body } = await get(url + query, key);
      assert.equal(status, 200);
      const ids: number[] = body.subscriptions.map(
        (each: { subscriptionId: number }) => each.subscriptionId,
      );
      return { ids, nextCursor: body.nextCursor as string | null, body };
    };
    return { shop, page };
  };

  /** The listed price of the only subscription in a new shop. */
  const priceIn = async (currency: string, record: object) =>
    (await (await shopWith([record], currency)).page('')).body.subscriptions[0].currentPrice;

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/subscriptions`;
  });
  after(() => world.close());

  // Requirements: rest.subscriptions, rest.fields.timestamps,
  // rest.subscription.line-items-only-in-detail.
  test('returns every field except the line items', async () => {
    const { page } = await shopWith([
      subscription(1001, {
        createdAt: '2026-10-01T02:00:00.123+02:00',
        nextBillingDate: '2026-12-01T00:00:00Z',
      }),
      subscription(1002, { status: 'paused', createdAt: '2026-10-02T00:00:00Z' }),
    ]);
    assert.deepEqual((await page('')).body, {
      subscriptions: [
        {
          subscriptionId: 1002,
          customerId: 501,
          status: 'paused',
          planId: 11,
          planName: 'Monthly box',
          planType: 'subscription',
          currentPrice: 30.6,
          nextBillingDate: null,
          createdAt: '2026-10-02T00:00:00.000Z',
        },
        {
          subscriptionId: 1001,
          customerId: 501,
          status: 'active',
          planId: 11,
          planName: 'Monthly box',
          planType: 'subscription',
          currentPrice: 30.6,
          nextBillingDate: '2026-12-01T00:00:00.000Z',
          createdAt: '2026-10-01T00:00:00.123Z',
        },
      ],
      nextCursor: null,
    });
  });

  // Requirements: rest.subscription.current-price, rest.fields.money.
  test('returns the sum of price times quantity, exact in every currency', async () => {
    assert.equal(await priceIn('USD', priced(['0.10', 1], ['0.20', 1])), 0.3);
    assert.equal(await priceIn('USD', priced(['15.30', 2], ['9.99', 3])), 60.57);
    assert.equal(await priceIn('JPY', priced(['1530', 2])), 3060);
    assert.equal(await priceIn('KWD', priced(['1.535', 3])), 4.605);
  });

  // Requirements: rest.limits.cursor, rest.limits.next-cursor.
  test('returns newest first, and pages without gaps or duplicates while rows are added', async () => {
    const sameTime = { createdAt: '2026-11-01T00:00:00Z' };
    const { shop, page } = await shopWith([
      ...[1, 2, 3, 4, 5].map((id) => subscription(id, sameTime)),
      subscription(9, { createdAt: '2026-10-31T23:59:59.999Z' }),
      subscription(8, { createdAt: '2026-11-01T00:00:00.001Z' }),
    ]);
    const first = await page('?limit=3');
    assert.deepEqual(first.ids, [8, 5, 4]);
    await importAll(world.store, shop, [
      subscription(6, sameTime),
      subscription(7, { createdAt: '2026-11-02T00:00:00Z' }),
    ]);
    const second = await page(`?limit=3&cursor=${first.nextCursor}`);
    assert.deepEqual(second.ids, [3, 2, 1]);
    const third = await page(`?limit=3&cursor=${second.nextCursor}`);
    assert.deepEqual(third.ids, [9]);
    assert.equal(third.nextCursor, null);
    assert.deepEqual((await page('')).ids, [7, 8, 6, 5, 4, 3, 2, 1, 9]);
  });

  // Requirements: rest.limits.page-size.
  test('returns 50 rows by default and up to 100', async () => {
    const { page } = await shopWith(
      Array.from({ length: 101 }, (_, index) => subscription(index + 1)),
    );
    for (const [query, length] of [
      ['', 50],
      ['?limit=1', 1],
      ['?limit=50', 50],
      ['?limit=100', 100],
    ] as const) {
      const { ids, nextCursor } = await page(query);
      assert.equal(ids.length, length);
      assert.equal(typeof nextCursor, 'string');
    }
    const { nextCursor } = await page('?limit=100');
    const last = await page(`?limit=1&cursor=${nextCursor}`);
    assert.deepEqual(last.ids, [1]);
    assert.equal(last.nextCursor, null, 'a last page that is exactly full is known to be the last');
  });

  // Requirements: rest.subscriptions.status-filter, rest.states.subscription.
  test('filters by status, in pages', async () => {
    const statuses = ['active', 'paused', 'cancelled', 'expired', 'failed'];
    const { page } = await shopWith(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) =>
        subscription(id, { status: statuses[(id - 1) % 5] }),
      ),
    );
    assert.deepEqual((await page('?status=active')).ids, [6, 1]);
    assert.deepEqual((await page('?status=paused')).ids, [7, 2]);
    assert.deepEqual((await page('?status=cancelled')).ids, [8, 3]);
    assert.deepEqual((await page('?status=expired')).ids, [9, 4]);
    assert.deepEqual((await page('?status=failed')).ids, [10, 5]);
    const first = await page('?status=paused&limit=1');
    assert.deepEqual(first.ids, [7]);
    const second = await page(`?status=paused&limit=1&cursor=${first.nextCursor}`);
    assert.deepEqual(second.ids, [2]);
    assert.equal(second.nextCursor, null);
  });

  test('returns an empty page for a shop without subscriptions', async () => {
    assert.deepEqual((await (await shopWith([])).page('')).body, {
      subscriptions: [],
      nextCursor: null,
    });
  });

  // Requirements: rest.errors.400-limit, rest.errors.400-cursor, rest.errors.400-status,
  // rest.limits.invalid, rest.errors.listings.
  test('refuses an invalid limit, cursor or status', async () => {
    for (const [query, message] of [
      ['?limit=0', 'limit must be an integer from 1 to 100.'],
      ['?limit=101', 'limit must be an integer from 1 to 100.'],
      [
        '?cursor=x',
        'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.',
      ],
      ['?status=live', 'status must be one of active, paused, cancelled, expired, failed.'],
      [
        '?status=live&limit=x',
        'limit must be an integer from 1 to 100. status must be one of active, paused, cancelled, expired, failed.',
      ],
    ] as const) {
      const { status, body } = await get(url + query, world.key);
      assert.equal(status, 400);
      assert.deepEqual(body, { success: false, message });
    }
  });

  // Requirements: rest.scopes.subscriptions.
  test('requires read:subscriptions', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:subscriptions']);
    assert.equal((await get(url, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:entitlements',
      'read:metrics',
      'read:plans',
    ]);
    const { status, body } = await get(url, other.key);
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      message: 'This API key does not have the required scope: read:subscriptions.',
    });
  });
});
