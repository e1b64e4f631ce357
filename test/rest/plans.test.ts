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
import { plan } from './records.ts';

onOneDatabase('GET /plans', (open) => {
  let world: World;
  let url: string;

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/plans`;
  });
  after(() => world.close());

  // Requirements: rest.plans, rest.fields.plan.*.
  test('returns every plan, active or not, ordered by id', async () => {
    const { refused } = await importAll(world.store, world.shop, [
      plan({
        id: 13,
        name: 'Fixed price',
        intervalUnit: 'year',
        pricing: { discountType: 'price', discountValue: '19.99', summary: 'Always $19.99' },
      }),
      plan({
        id: 11,
        groupName: 'Boxes',
        productIds: [81, 82],
        pricing: { discountType: 'percentage', discountValue: 12.5, summary: '12.5% off' },
      }),
      plan({
        id: 12,
        name: 'Amount off',
        active: false,
        intervalUnit: 'week',
        intervalCount: 2,
        pricing: { discountType: 'fixed_amount', discountValue: '5.00', summary: '$5 off' },
      }),
      plan({
        id: 14,
        name: 'Daily',
        intervalUnit: 'day',
        intervalCount: 30,
        pricing: { discountType: 'none', summary: 'No discount' },
      }),
    ]);
    assert.deepEqual(refused, []);
    const { status, body } = await get(url, world.key);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      plans: [
        {
          id: 11,
          name: 'Monthly box',
          groupName: 'Boxes',
          intervalUnit: 'month',
          intervalCount: 1,
          active: true,
          productCount: 2,
          pricing: { discountType: 'percentage', discountValue: 12.5, summary: '12.5% off' },
        },
        {
          id: 12,
          name: 'Amount off',
          groupName: '',
          intervalUnit: 'week',
          intervalCount: 2,
          active: false,
          productCount: 0,
          pricing: { discountType: 'fixed_amount', discountValue: 5, summary: '$5 off' },
        },
        {
          id: 13,
          name: 'Fixed price',
          groupName: '',
          intervalUnit: 'year',
          intervalCount: 1,
          active: true,
          productCount: 0,
          pricing: { discountType: 'price', discountValue: 19.99, summary: 'Always $19.99' },
        },
        {
          id: 14,
          name: 'Daily',
          groupName: '',
          intervalUnit: 'day',
          intervalCount: 30,
          active: true,
          productCount: 0,
          pricing: { discountType: 'none', discountValue: 0, summary: 'No discount' },
        },
      ],
    });
  });

  // Requirements: rest.plans.unpaged, rest.limits.paginated.
  test('returns the full set, whatever limit and cursor say', async () => {
    const shop = await createShop(world.store);
    const ids = Array.from({ length: 150 }, (_, index) => index + 1);
    await importAll(
      world.store,
      shop,
      ids.map((id) => plan({ id })),
    );
    const { key } = await createTestKey(world.store, shop.id);
    for (const query of ['', '?limit=1', '?limit=0', '?cursor=x']) {
      const { status, body } = await get(url + query, key);
      assert.equal(status, 200);
      assert.deepEqual(
        body.plans.map((each: { id: number }) => each.id),
        ids,
      );
    }
  });

  test('returns an empty list for a shop without plans', async () => {
    const shop = await createShop(world.store);
    const { key } = await createTestKey(world.store, shop.id);
    assert.deepEqual((await get(url, key)).body, { plans: [] });
  });

  test('refuses requests without a key', async () => {
    assert.equal((await get(url)).status, 401);
  });

  // Requirements: rest.scopes.plans.
  test('requires read:plans', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:plans']);
    assert.equal((await get(url, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:entitlements',
      'read:subscriptions',
      'read:metrics',
    ]);
    const { status, body } = await get(url, other.key);
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      message: 'This API key does not have the required scope: read:plans.',
    });
  });
});
