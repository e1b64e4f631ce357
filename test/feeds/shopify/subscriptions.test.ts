import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { createShopifyClient } from '../../../src/platforms/shopify/api/client.ts';
import { ensureSubscriptions } from '../../../src/platforms/shopify/webhooks/subscriptions.ts';
import { silentLog } from '../../support/world.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { StandInWorld } from './stand-in-world.ts';
import { domain, noBackoff } from './synced.ts';

const address = 'https://retention.example.com/webhooks/shopify';
const topics = [
  'subscription_contracts/create',
  'subscription_contracts/update',
  'subscription_contracts/activate',
  'subscription_contracts/pause',
  'subscription_contracts/cancel',
  'subscription_contracts/expire',
  'subscription_contracts/fail',
  'subscription_billing_attempts/success',
  'subscription_billing_attempts/failure',
  'subscription_billing_attempts/challenged',
  'subscription_billing_cycles/skip',
  'subscription_billing_cycles/unskip',
  'subscription_billing_cycle_edits/create',
  'subscription_billing_cycle_edits/update',
  'subscription_billing_cycle_edits/delete',
  'selling_plan_groups/create',
  'selling_plan_groups/update',
  'selling_plan_groups/delete',
  'app/uninstalled',
];
const nothing = { created: [], updated: [], deleted: [], refused: [] };

describe('subscribing to webhooks', () => {
  let standIn: StandIn;
  const standIns: StandIn[] = [];
  beforeEach(async () => {
    standIn = await startStandIn(new StandInWorld());
    standIns.push(standIn);
  });
  after(async () => {
    for (const each of standIns) await each.close();
  });

  const ensure = (uri = address) => {
    const { accessToken, baseUrl: origin } = standIn;
    const clock = new FixedClock(Date.now());
    const backoff = noBackoff(clock);
    const options = {
      domain,
      origin,
      accessToken: async () => accessToken,
      clock,
      backoff,
      log: silentLog,
    };
    return ensureSubscriptions(createShopifyClient(options), uri);
  };
  const stored = () => standIn.webhooks.all.map(({ topic, uri, name }) => ({ topic, uri, name }));

  test('subscribes to every topic once', async () => {
    assert.deepEqual(await ensure(), { ...nothing, created: topics });
    assert.equal(stored().length, 19);
    assert.deepEqual(stored()[0], {
      topic: 'SUBSCRIPTION_CONTRACTS_CREATE',
      uri: address,
      name: 'retention_subscription_contracts_create',
    });
    assert.deepEqual(await ensure(), nothing);
    assert.equal(stored().length, 19);
  });

  test('subscribes again to what was removed', async () => {
    await ensure();
    standIn.webhooks.all.splice(3, 1);
    assert.deepEqual(await ensure(), { ...nothing, created: ['subscription_contracts/pause'] });
  });

  test('moves its subscriptions to another address', async () => {
    await ensure('https://old.example.com/webhooks/shopify');
    assert.deepEqual(await ensure(), { ...nothing, updated: topics });
    assert.deepEqual(new Set(stored().map(({ uri }) => uri)), new Set([address]));
    assert.equal(stored().length, 19);
  });

  test('changes a subscription in another format', async () => {
    await ensure();
    const [first] = standIn.webhooks.all;
    Object.assign(first ?? {}, { format: 'XML' });
    assert.deepEqual(await ensure(), { ...nothing, updated: ['subscription_contracts/create'] });
    assert.equal(first?.format, 'JSON');
  });

  test('deletes its subscriptions to topics that have no effect any more', async () => {
    await ensure();
    standIn.webhooks.add('ORDERS_CREATE', { name: 'retention_orders_create', uri: address });
    assert.deepEqual(await ensure(), { ...nothing, deleted: ['ORDERS_CREATE'] });
    assert.equal(stored().length, 19);
  });

  test("leaves the app's other subscriptions alone", async () => {
    const other = { uri: 'https://backend.example.com/shopify', name: null };
    standIn.webhooks.add('SUBSCRIPTION_CONTRACTS_CREATE', other);
    standIn.webhooks.add('ORDERS_CREATE', { ...other, name: 'backend' });
    assert.deepEqual(await ensure(), { ...nothing, created: topics });
    assert.deepEqual(stored().slice(0, 2), [
      { topic: 'SUBSCRIPTION_CONTRACTS_CREATE', ...other },
      { topic: 'ORDERS_CREATE', ...other, name: 'backend' },
    ]);
  });

  test('takes over a subscription that someone else made for this address', async () => {
    standIn.webhooks.add('SUBSCRIPTION_CONTRACTS_PAUSE', { uri: address });
    const created = topics.filter((each) => each !== 'subscription_contracts/pause');
    assert.deepEqual(await ensure(), { ...nothing, created });
    standIn.webhooks.add('SUBSCRIPTION_CONTRACTS_PAUSE', {
      uri: 'https://old.example.com/webhooks/shopify',
      name: 'retention_subscription_contracts_pause',
    });
    const deleted = ['subscription_contracts/pause'];
    assert.deepEqual(await ensure(), { ...nothing, deleted });
    assert.equal(stored().length, 19);
  });

  test('reports topics that Shopify refuses, and subscribes to the others', async () => {
    standIn.webhooks.forbidden.add('SELLING_PLAN_GROUPS_CREATE');
    const refused = [
      {
        topic: 'selling_plan_groups/create',
        reason: 'You cannot create a webhook subscription with the specified topic',
      },
    ];
    const created = topics.filter((each) => each !== 'selling_plan_groups/create');
    assert.deepEqual(await ensure(), { ...nothing, created, refused });
    assert.deepEqual(await ensure(), { ...nothing, refused });
  });
});
