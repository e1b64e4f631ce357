import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import { createTestKey, get, importAll, startWorld, type World } from '../support/world.ts';
import { plan, subscription } from './records.ts';

const past = '2026-11-20T11:59:59.999Z';
const exactlyNow = '2026-11-20T12:00:00.000Z';
const future = '2026-11-20T12:00:00.001Z';

onOneDatabase('GET /entitlements', (open) => {
  let world: World;
  let url: string;
  const isEntitled = async (customerId: number) =>
    (await get(`${url}?customerId=${customerId}`, world.key)).body.subscriptions.map(
      (each: { isEntitled: boolean }) => each.isEntitled,
    );

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/entitlements`;
    const { refused } = await importAll(world.store, world.shop, [
      plan(),
      plan({ id: 12, name: 'Prepaid year', planType: 'prepaid' }),
      subscription(1002, { status: 'cancelled' }),
      subscription(1001),
      subscription(1003, { planId: 12, status: 'paused', paidThroughAt: future }),
      subscription(1010, { customerId: 510, status: 'active', paidThroughAt: past }),
      subscription(1011, { customerId: 511, status: 'paused', paidThroughAt: future }),
      subscription(1012, { customerId: 512, status: 'paused', paidThroughAt: exactlyNow }),
      subscription(1013, { customerId: 513, status: 'paused', paidThroughAt: past }),
      subscription(1014, { customerId: 514, status: 'paused' }),
      subscription(1015, { customerId: 515, status: 'cancelled', paidThroughAt: future }),
      subscription(1016, { customerId: 516, status: 'cancelled', paidThroughAt: exactlyNow }),
      subscription(1017, { customerId: 517, status: 'cancelled' }),
      subscription(1018, { customerId: 518, status: 'expired', paidThroughAt: future }),
      subscription(1019, { customerId: 519, status: 'failed', paidThroughAt: future }),
      subscription(1020, { customerId: 520 }),
      { type: 'delete', record: 'subscription', id: 1020 },
      subscription(1021, { customerId: 521, status: 'expired', paidThroughAt: exactlyNow }),
      subscription(1022, { customerId: 522, status: 'failed', paidThroughAt: exactlyNow }),
      subscription(1023, { customerId: 523, status: 'expired' }),
      subscription(1024, { customerId: 524, status: 'failed' }),
      subscription(1025, { customerId: 525, paidThroughAt: '2026-11-20T13:00:00+01:00' }),
    ]);
    assert.deepEqual(refused, []);
  });
  after(() => world.close());

  // Requirements: rest.entitlements, rest.entitlements.one-per-subscription,
  // rest.fields.entitlement.*.
  test('returns one entry per subscription, ordered by id', async () => {
    const { status, body } = await get(`${url}?customerId=501`, world.key);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      subscriptions: [
        {
          subscriptionId: 1001,
          planId: 11,
          planName: 'Monthly box',
          planType: 'subscription',
          status: 'active',
          isEntitled: true,
          paidThroughAt: null,
        },
        {
          subscriptionId: 1002,
          planId: 11,
          planName: 'Monthly box',
          planType: 'subscription',
          status: 'cancelled',
          isEntitled: false,
          paidThroughAt: null,
        },
        {
          subscriptionId: 1003,
          planId: 12,
          planName: 'Prepaid year',
          planType: 'prepaid',
          status: 'paused',
          isEntitled: true,
          paidThroughAt: '2026-11-20T12:00:00.001Z',
        },
      ],
    });
  });

  test('entitles while active, and in any other status until the paid period ends', async () => {
    assert.deepEqual(await isEntitled(510), [true]);
    assert.deepEqual(await isEntitled(511), [true]);
    assert.deepEqual(await isEntitled(512), [false]);
    assert.deepEqual(await isEntitled(513), [false]);
    assert.deepEqual(await isEntitled(514), [false]);
    assert.deepEqual(await isEntitled(515), [true]);
    assert.deepEqual(await isEntitled(516), [false]);
    assert.deepEqual(await isEntitled(517), [false]);
    assert.deepEqual(await isEntitled(518), [true]);
    assert.deepEqual(await isEntitled(519), [true]);
    assert.deepEqual(await isEntitled(521), [false]);
    assert.deepEqual(await isEntitled(522), [false]);
    assert.deepEqual(await isEntitled(523), [false]);
    assert.deepEqual(await isEntitled(524), [false]);
  });

  test('returns paidThroughAt in UTC for any status', async () => {
    const paidThroughAt = async (customerId: number) =>
      (await get(`${url}?customerId=${customerId}`, world.key)).body.subscriptions.map(
        (each: { paidThroughAt: string | null }) => each.paidThroughAt,
      );
    assert.deepEqual(await paidThroughAt(510), ['2026-11-20T11:59:59.999Z']);
    assert.deepEqual(await paidThroughAt(518), ['2026-11-20T12:00:00.001Z']);
    assert.deepEqual(await paidThroughAt(524), [null]);
    assert.deepEqual(await paidThroughAt(525), ['2026-11-20T12:00:00.000Z']);
  });

  // Requirements: rest.entitlements.unknown-customer, rest.entitlements.no-subscriptions.
  test('returns an empty array for a customer without subscriptions', async () => {
    for (const customerId of [999, 520]) {
      const { status, body } = await get(`${url}?customerId=${customerId}`, world.key);
      assert.equal(status, 200);
      assert.deepEqual(body, { subscriptions: [] });
    }
  });

  // Requirements: rest.entitlements.alias.
  test('returns the same without a version in the path', async () => {
    const alias = `${world.service.baseUrl}/api/external/entitlements`;
    for (const query of ['?customerId=501', '?customerId=999', '', '?customerId=x']) {
      const versioned = await get(url + query, world.key);
      const unversioned = await get(alias + query, world.key);
      assert.equal(unversioned.status, versioned.status);
      assert.deepEqual(unversioned.body, versioned.body);
    }
    assert.equal((await get(`${alias}?customerId=501`)).status, 401);
  });

  // Requirements: rest.errors.400-customer-id, rest.errors.entitlements.
  test('refuses a customerId that is missing or not a positive integer', async () => {
    for (const query of [
      '',
      '?customerId=',
      '?customerId=0',
      '?customerId=-1',
      '?customerId=a@b.c',
    ]) {
      const { status, body } = await get(url + query, world.key);
      assert.equal(status, 400);
      assert.deepEqual(body, { success: false, message: 'customerId must be a positive integer.' });
    }
  });

  // Requirements: rest.scopes.entitlements.
  test('requires read:entitlements', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:entitlements']);
    assert.equal((await get(`${url}?customerId=501`, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:subscriptions',
      'read:metrics',
      'read:plans',
    ]);
    const { status, body } = await get(`${url}?customerId=501`, other.key);
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      message: 'This API key does not have the required scope: read:entitlements.',
    });
  });
});
