import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createLog } from '../../src/log/log.ts';
import { subscribedTopics } from '../../src/platforms/shopify/webhooks/topics.ts';
import { listJobCounts } from '../../src/store/feeds/jobs.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { publishedSamples } from './published-samples.ts';
import { putContract } from './source.ts';
import { deliverWebhook, startWebhookWorld, untilQuiet } from './world.ts';

const duties = ['customers/data_request', 'customers/redact', 'shop/redact'];
const hints = subscribedTopics.filter((topic) => topic !== 'app/uninstalled');

onOneOwnDatabase('webhooks as Shopify sends them', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  const lines: Record<string, unknown>[] = [];
  before(async () => {
    store = open();
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    world = await startWebhookWorld(store, { log });
  });
  beforeEach(() => {
    lines.length = 0;
    world.standIn.requests.length = 0;
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const said = (...fields: string[]) =>
    lines
      .filter(({ msg }) => String(msg).startsWith('webhook '))
      .map((line) => ['level', ...fields].map((field) => line[field]));
  const jobs = async () => (await listJobCounts(store.write)).length;

  test('are accepted in every published form', async () => {
    assert.deepEqual(
      Object.keys(publishedSamples).toSorted(),
      [...subscribedTopics, ...duties].toSorted(),
    );
    for (const [topic, body] of Object.entries(publishedSamples)) {
      assert.equal((await world.send(topic, body)).status, 200, topic);
      await untilQuiet(store);
    }
    const { requests } = world.standIn;
    const counts = ['Contract', 'PlanGroup'].map(
      (name) => requests.filter((each) => each === name).length,
    );
    assert.deepEqual(counts, [15, 3]);
    // The samples are of another shop, so they must not change this one.
    const otherShop = 'The body names a different shop than the header.';
    const ignored = said('topic', 'reason');
    assert.deepEqual(ignored, [
      ['error', 'app/uninstalled', 'The body does not match its topic.'],
      ...duties.map((topic) => ['error', topic, otherShop]),
    ]);
    assert.equal(await jobs(), 0);
  });

  test('are left to the next sync if they name no record', async () => {
    const bodies = [
      '',
      'x',
      'null',
      '[]',
      '{}',
      '{"id":null}',
      '{"id":0}',
      '{"id":1.5}',
      '{"id":"1x"}',
      '{"id":true}',
      '{"id":9007199254740992}',
      '{"subscription_contract_id":null}',
      '{"id":null,"admin_graphql_api_id":"gid://shopify/Customer/1"}',
      '{"admin_graphql_api_id":"1","admin_graphql_api_subscription_contract_id":"1"}',
    ];
    const left = 'webhook names no record; left to the next sync';
    for (const topic of hints) {
      lines.length = 0;
      for (const body of bodies) {
        assert.equal((await world.send(topic, body)).status, 200, `${topic} ${body}`);
      }
      const expected = bodies.map(() => ['info', topic, left]);
      assert.deepEqual(said('topic', 'msg'), expected);
    }
    assert.equal(await jobs(), 0);
    assert.deepEqual(world.standIn.requests, []);
  });

  test('may name their record by a GID alone', async () => {
    putContract(world.source, 1010);
    const id = 'gid://shopify/SubscriptionContract/1010';
    const named: [string, object][] = [
      ['subscription_contracts/update', { id: null, admin_graphql_api_id: id }],
      ['subscription_billing_attempts/success', { admin_graphql_api_subscription_contract_id: id }],
    ];
    for (const [topic, body] of named) {
      assert.equal((await world.send(topic, body)).status, 200);
      await untilQuiet(store);
    }
    assert.deepEqual(world.standIn.requests, ['Contract', 'Contract']);
    const [stored] = await store.write`
      select count(*)::int as count from subscriptions where shop_id = ${world.shop.id}`;
    assert.equal(stored?.['count'], 1);
  });

  test('that no sync makes up for are errors in the log if their body does not match', async () => {
    for (const topic of [...duties, 'app/uninstalled']) {
      for (const body of ['', '{}']) assert.equal((await world.send(topic, body)).status, 200);
      const line = ['error', topic, 'The body does not match its topic.'];
      assert.deepEqual(said('topic', 'reason').splice(-2), [line, line]);
    }
    assert.equal(await jobs(), 0);
  });

  test('of another API version are reported once for each shop and version', async () => {
    const { baseUrl } = world.service;
    const send = (domain: string, version: string) =>
      deliverWebhook(baseUrl, domain, 'subscription_contracts/update', '', {
        headers: { 'x-shopify-api-version': version },
      });
    const versions = ['2026-07', '2026-07', '2026-10', '2027-01', 'unstable', '2026-07', '1; x'];
    for (const version of versions) {
      for (const domain of [world.domain, world.other.domain]) await send(domain, version);
    }
    await send('unknown-shop.myshopify.com', '2026-04');
    const reported = lines
      .filter(({ version }) => version !== undefined)
      .map(({ level, shopId, version, expected }) => [level, shopId, version, expected]);
    const [first, second] = [world.shop.id, world.other.shop.id];
    assert.deepEqual(reported, [
      ['warn', first, '2026-07', '2026-10'],
      ['warn', second, '2026-07', '2026-10'],
      ['warn', first, '2027-01', '2026-10'],
      ['warn', second, '2027-01', '2026-10'],
      ['warn', first, 'unstable', '2026-10'],
      ['warn', second, 'unstable', '2026-10'],
    ]);
  });
});
