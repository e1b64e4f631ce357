import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { operations } from '../../src/operations/index.ts';
import { metricDefinitions } from '../../src/telemetry/definitions.ts';
import { callModern, legacyRequest, post, postRaw } from '../mcp/wire.ts';
import { bearer, exchange } from '../rest/raw.ts';
import { plan } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { createShop, createTestKey, importAll, startWorld, type World } from '../support/world.ts';
import { valueOf } from './exposition.ts';
import { counted, duration, scrape } from './scrape.ts';

onOneDatabase('metrics', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open(), { telemetry: { metricsPort: 0 } });
  });
  after(() => world.close());

  const send = async (path: string, key = world.key, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(world.service.baseUrl + path, { headers, ...init });
    await response.arrayBuffer();
    return response.status;
  };
  const base = '/api/external/v1';

  test('counts every request once, by operation and status', async () => {
    const free = await createShop(world.store, { tier: 'free' });
    const { key: freeKey } = await createTestKey(world.store, free.id);
    const growth = await createShop(world.store, { tier: 'growth' });
    const { key: plansKey } = await createTestKey(world.store, growth.id, ['read:plans']);
    const earlier = await counted(world.service.metricsUrl);
    const { families: first } = await scrape(world.service.metricsUrl);

    for (let each = 0; each < 3; each += 1) assert.equal(await send(`${base}/plans`), 200);
    assert.equal(await send('/api/external/entitlements?customerId=1'), 200);
    assert.equal(await send(`${base}/entitlements?customerId=1`), 200);
    assert.equal(await send(`${base}/subscriptions`), 200);
    assert.equal(await send(`${base}/metrics/summary`), 200);
    assert.equal(await send(`${base}/cancellations`), 200);
    assert.equal(await send(`${base}/entitlements`), 400);
    assert.equal(await send(`${base}/subscriptions/1`), 404);
    assert.equal(await send(`${base}/plans`, 'rtn_nobody'), 401);
    assert.equal(await send(`${base}/plans`, freeKey), 403);
    assert.equal(await send(`${base}/metrics/summary`, plansKey), 403);
    for (let each = 1; each < 60; each += 1)
      assert.equal(await send(`${base}/plans`, plansKey), 200);
    assert.equal(await send(`${base}/plans`, plansKey), 429);
    assert.equal(await send(`${base}/plans`, plansKey), 429);
    assert.equal(await send(`${base}/nothing`), 404);
    assert.equal(await send(`${base}/plans`, world.key, { method: 'DELETE' }), 405);
    assert.equal(await send('/docs'), 200);
    assert.equal(await send(`${base}/openapi.json`), 200);
    assert.equal(await send('/readyz'), 200);

    const call = (name: string, args: object = {}) =>
      post(world, legacyRequest('tools/call', { name, arguments: args }));
    assert.equal((await call('list_plans')).status, 200);
    assert.equal((await callModern(world, 'list_plans')).status, 200);
    assert.equal((await call('get_subscription', { subscriptionId: 1 })).status, 200);
    assert.equal((await call('list_everything')).status, 200);
    assert.equal((await post(world, legacyRequest('tools/list'))).status, 200);
    assert.equal((await post(world, '{')).status, 200);
    assert.equal((await post(world, { jsonrpc: '2.0', method: 'notifications/x' })).status, 202);
    const json = 'content-type: application/json';
    assert.equal((await postRaw(world.service.baseUrl, [json], '{}')).status, 401);
    const limited = await postRaw(world.service.baseUrl, [bearer(plansKey), json], '{}');
    assert.equal(limited.status, 429);

    const since = Object.entries(await counted(world.service.metricsUrl))
      .map(([what, count]) => `${what}: ${count - (earlier[what] ?? 0)}`)
      .toSorted();
    assert.deepEqual(since, [
      'mcp get_subscription 200: 1',
      'mcp list_plans 200: 2',
      'mcp none 200: 3',
      'mcp none 202: 1',
      'mcp none 401: 1',
      'mcp none 429: 1',
      'other none 200: 3',
      'other none 404: 1',
      'other none 405: 1',
      'rest get_entitlements 200: 2',
      'rest get_entitlements 400: 1',
      'rest get_metrics_summary 200: 1',
      'rest get_metrics_summary 403: 1',
      'rest get_subscription 404: 1',
      'rest list_cancellations 200: 1',
      'rest list_plans 200: 62',
      'rest list_subscriptions 200: 1',
      'rest none 401: 1',
      'rest none 403: 1',
      'rest none 429: 2',
    ]);

    const { families } = await scrape(world.service.metricsUrl);
    const refused = 'retention_limiter_refusals_total';
    assert.equal(valueOf(first, refused, { transport: 'rest' }), 0);
    assert.equal(valueOf(families, refused, { transport: 'rest' }), 2);
    assert.equal(valueOf(families, refused, { transport: 'mcp' }), 1);
    assert.ok((valueOf(families, 'retention_key_leases') ?? 0) >= 3);
    for (const cache of ['found_keys', 'limiter_keys']) {
      assert.ok((valueOf(families, 'retention_cache_entries', { cache }) ?? 0) >= 1, cache);
    }
  });

  test('labels contain nothing from callers', async () => {
    const marker = 'w3ird';
    const { baseUrl } = world.service;
    for (const path of [
      `/${marker}`,
      `${base}/${marker}"} 1`,
      `${base}/subscriptions/${marker}`,
      `${base}/plans?${marker}="`,
      `/%0A${marker}`,
      `/${marker}\\n`,
    ]) {
      const target = path.replaceAll(' ', '%20');
      for (const key of [world.key, marker, `rtn_${marker}"`]) {
        await exchange(
          baseUrl,
          `GET ${target} HTTP/1.1\r\nhost: a\r\n${bearer(key)}\r\nconnection: close\r\n\r\n`,
        );
      }
    }
    await exchange(
      baseUrl,
      `PROPFIND /${marker} HTTP/1.1\r\nhost: ${marker}\r\nconnection: close\r\n\r\n`,
    );
    for (const name of [marker, `${marker}"} 1\n`, 'none', '__proto__', 'constructor']) {
      await post(world, legacyRequest('tools/call', { name, arguments: { [marker]: marker } }));
      await post(world, legacyRequest(`${marker}/${name}`));
    }

    const { text, families } = await scrape(world.service.metricsUrl);
    assert.ok(!text.includes(marker), text);
    const known = new Set([...operations.map(({ tool }) => tool), 'none']);
    const samples = families.get(duration)?.samples ?? [];
    for (const { labels } of samples) {
      assert.ok(known.has(labels['operation'] ?? ''));
      assert.match(labels['transport'] ?? '', /^(?:rest|mcp|other)$/);
      assert.match(labels['status'] ?? '', /^[2-5]\d\d$/);
    }
    for (const [name, family] of families) {
      assert.equal(family.type, metricDefinitions[name as keyof typeof metricDefinitions].type);
    }
  });

  test('measures the process, the database and its connections', async () => {
    await importAll(world.store, world.shop, [plan()]);
    world.clock.advance(60_000);
    assert.equal(await send(`${base}/plans`), 200);
    // A scrape waits a second for the database, which other tests may keep busy for longer.
    const { families } = await until(
      () => scrape(world.service.metricsUrl),
      (scraped) =>
        valueOf(scraped.families, 'retention_database_up') === 1 &&
        scraped.families.has('retention_feed_shops'),
    );
    const has = (name: string, labels = {}) => valueOf(families, name, labels) ?? -1;
    assert.ok(has('retention_database_check_seconds') >= 0);
    for (const [connection, max] of Object.entries({ 'read plans': 1, analyse: 2, write: 4 })) {
      assert.equal(has('retention_database_connections', { connection }), max);
      assert.ok(has('retention_database_statements_in_flight', { connection }) >= 0);
    }
    assert.ok(has('retention_feed_shops', { feed: 'records' }) >= 1);
    // The shop where it is longest is not known.
    assert.ok(has('retention_feed_age_seconds', { feed: 'records' }) >= 60);
    assert.ok(has('retention_open_connections') >= 1);
    assert.ok(has('process_resident_memory_bytes') > has('nodejs_heap_used_bytes'));
    assert.ok(has('nodejs_heap_used_bytes') > 1e6);
    assert.ok(has('process_cpu_seconds_total') > 0);
    assert.ok(Math.abs(has('process_start_time_seconds') * 1000 - performance.timeOrigin) < 1);
    const { commit, ...build } = families.get('retention_build_info')?.samples[0]?.labels ?? {};
    assert.deepEqual(build, { version: '1.0.0', node: process.version });
    assert.match(commit ?? '', /^(?:[0-9a-f]{40}|unknown)$/);
    const [median, p99, longest] = ['50', '99', '100'].map((percentile) =>
      has('retention_event_loop_delay_seconds', { percentile }),
    ) as [number, number, number];
    assert.ok(0 < median && median <= p99 && p99 <= longest);
    assert.ok(!families.has('retention_limiter_shared'));
    assert.ok(!families.has('retention_replica_in_use'));
  });
});
