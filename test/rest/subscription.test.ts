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
import { bearer, request } from './raw.ts';
import { line, plan, subscription } from './records.ts';

onOneDatabase('GET /subscriptions/{id}', (open) => {
  let world: World;
  let url: string;

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/subscriptions`;
    const person = { email: 'jo@example.com', customerName: 'Jo' };
    const { refused } = await importAll(world.store, world.shop, [
      plan(),
      subscription(1001, {
        ...person,
        nextBillingDate: '2026-12-01T00:00:00Z',
        lines: [
          { ...line, lineId: 2, ...person },
          {
            lineId: 1,
            productId: 82,
            productTitle: 'Filter papers',
            variantId: 92,
            quantity: 3,
            currentPrice: '0.10',
          },
        ],
      }),
    ]);
    assert.deepEqual(refused, []);
    const other = await createShop(world.store);
    await importAll(world.store, other, [plan(), subscription(2001)]);
  });
  after(() => world.close());

  // Requirements: rest.subscription, rest.fields.subscription.*, rest.fields.line-item.*,
  // rest.line-item.catalog-fields, rest.subscription.no-personal-data.
  test('returns the subscription with its lines in source order, and nothing personal', async () => {
    const { status, body } = await get(`${url}/1001`, world.key);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      subscription: {
        subscriptionId: 1001,
        customerId: 501,
        status: 'active',
        planId: 11,
        planName: 'Monthly box',
        planType: 'subscription',
        currentPrice: 30.9,
        nextBillingDate: '2026-12-01T00:00:00.000Z',
        createdAt: '2026-11-01T00:00:00.000Z',
        lineItems: [
          {
            lineId: 2,
            productId: 81,
            productTitle: 'House Blend',
            variantId: 91,
            variantTitle: '1 lb',
            quantity: 2,
            currentPrice: 15.3,
          },
          {
            lineId: 1,
            productId: 82,
            productTitle: 'Filter papers',
            variantId: 92,
            variantTitle: '',
            quantity: 3,
            currentPrice: 0.1,
          },
        ],
      },
    });
  });

  test('accepts an id with leading zeros or encoded digits', async () => {
    for (const id of ['0001001', '%31001']) {
      const { status, body } = await get(`${url}/${id}`, world.key);
      assert.equal(status, 200);
      assert.equal(body.subscription.subscriptionId, 1001);
    }
  });

  // Requirements: rest.subscription.not-found, rest.errors.404, rest.errors.subscription.
  test('refuses a missing, foreign or non-numeric id with the same bytes', async () => {
    const ids = [
      '1002',
      '2001',
      'abc',
      '0',
      '-1',
      '+1001',
      '1e3',
      '0x3e9',
      '1001.0',
      '1001x',
      '%201001',
      '1001%20',
      '1001%2F',
      '1001%00',
      'null',
      '__proto__',
      '9007199254740991',
      '9007199254740992',
      '9223372036854775808',
      '9'.repeat(400),
      '١٠٠١'.replace(/./g, (digit) => encodeURIComponent(digit)),
    ];
    const head = await request(url, 'GET', '/api/external/v1/subscriptions/1002', [
      bearer(world.key),
    ]);
    assert.equal(head.status, 404);
    assert.equal(head.body, '{"success":false,"message":"Subscription not found."}');
    for (const id of ids) {
      const answer = await request(url, 'GET', `/api/external/v1/subscriptions/${id}`, [
        bearer(world.key),
      ]);
      assert.equal(answer.status, 404, id);
      assert.equal(answer.body, head.body, id);
      assert.deepEqual(Object.keys(answer.headers), Object.keys(head.headers), id);
    }
  });

  test('requires read:subscriptions, and checks it before the id', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:subscriptions']);
    assert.equal((await get(`${url}/1001`, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:entitlements',
      'read:metrics',
      'read:plans',
    ]);
    for (const id of ['1001', '1002', '2001', 'abc']) {
      const { status, body } = await get(`${url}/${id}`, other.key);
      assert.equal(status, 403);
      assert.deepEqual(body, {
        success: false,
        message: 'This API key does not have the required scope: read:subscriptions.',
      });
    }
  });
});
