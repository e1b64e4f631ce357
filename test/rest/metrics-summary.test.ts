import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import { createTestKey, get, importAll, startWorld, type World } from '../support/world.ts';
import { plan, session, subscription } from './records.ts';

const payment = (id: number, subscriptionId: number, status: string, processedAt: string) => ({
  type: 'payment',
  id,
  subscriptionId,
  cycle: '2026-11',
  status,
  amount: '30.60',
  processedAt,
});

onOneDatabase('GET /metrics/summary', (open) => {
  let world: World;
  let url: string;

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/metrics/summary`;
  });
  after(() => world.close());

  // Requirements: rest.metrics-summary.fractions.
  test('returns zeros for a shop without records', async () => {
    const { status, body } = await get(url, world.key);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      summary: {
        activeSubscribers: 0,
        pausedSubscribers: 0,
        mrr: 0,
        revenue30d: 0,
        newSubscribers30d: 0,
        cancelled30d: 0,
        churnRate30d: 0,
        saveRate: 0,
        cancelSessions30d: 0,
        dunningActive: 0,
        recoveryRate: 0,
        failedPayments30d: 0,
        avgSubscriptionValue: 0,
        upcomingRenewals7d: 0,
        upcomingRenewalsValue7d: 0,
        generatedAt: '2026-11-20T12:00:00.000Z',
        currency: 'USD',
      },
    });
  });

  // Requirements: rest.metrics-summary, rest.fields.metrics-summary.*,
  // rest.metrics-summary.aggregate-only.
  test('returns the figures, their instant and currency, and no rows', async () => {
    const { refused } = await importAll(world.store, world.shop, [
      plan(),
      subscription(1001, { nextBillingDate: '2026-11-25T00:00:00Z' }),
      subscription(1002, {
        customerId: 502,
        status: 'paused',
        createdAt: '2026-01-01T00:00:00Z',
      }),
      subscription(1003, {
        customerId: 503,
        status: 'cancelled',
        createdAt: '2026-01-01T00:00:00Z',
        updatedAt: '2026-11-10T00:00:00Z',
      }),
      payment(9001, 1001, 'succeeded', '2026-11-05T00:00:00Z'),
      payment(9002, 1002, 'failed', '2026-11-06T00:00:00Z'),
      payment(9003, 1001, 'failed', '2026-11-06T00:00:00Z'),
      payment(9004, 1001, 'succeeded', '2026-11-07T00:00:00Z'),
      {
        type: 'refund',
        id: 71,
        paymentId: 9001,
        amount: '10.00',
        refundedAt: '2026-11-08T00:00:00Z',
      },
      session(7001, { outcome: 'saved', offerType: 'pause' }),
      session(7002, { outcome: 'cancelled' }),
      session(7003),
    ]);
    assert.deepEqual(refused, []);
    const { body } = await get(url, world.key);
    assert.deepEqual(body, {
      summary: {
        activeSubscribers: 1,
        pausedSubscribers: 1,
        mrr: 30.6,
        revenue30d: 51.2,
        newSubscribers30d: 1,
        cancelled30d: 1,
        churnRate30d: 0.3333,
        saveRate: 0.5,
        cancelSessions30d: 3,
        dunningActive: 1,
        recoveryRate: 1,
        failedPayments30d: 2,
        avgSubscriptionValue: 30.6,
        upcomingRenewals7d: 1,
        upcomingRenewalsValue7d: 30.6,
        generatedAt: '2026-11-20T12:00:00.000Z',
        currency: 'USD',
      },
    });
  });

  // Requirements: rest.errors.unparameterised.
  test('ignores all parameters', async () => {
    const { status } = await get(`${url}?limit=x&cursor=x&outcome=x&customerId=x`, world.key);
    assert.equal(status, 200);
  });

  // Requirements: rest.scopes.metrics.
  test('requires read:metrics', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:metrics']);
    assert.equal((await get(url, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:entitlements',
      'read:subscriptions',
      'read:plans',
    ]);
    const { status, body } = await get(url, other.key);
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      message: 'This API key does not have the required scope: read:metrics.',
    });
  });
});
