import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../src/access/keys/key-format.ts';
import { systemClock } from '../../src/clock.ts';
import { connectAll } from '../../src/store/open.ts';
import { ServiceMetrics } from '../../src/telemetry/service-metrics.ts';
import { until } from '../support/until.ts';
import { openAnyStore, openOwnStore, startTestService, startWorld } from '../support/world.ts';
import { type Family, parseExposition, valueOf } from './exposition.ts';
import { counted, scrape } from './scrape.ts';

const telemetry = { metricsPort: 0 };

test('counts an internal failure as 500, and serves metrics without the database', async () => {
  const world = await startWorld(openOwnStore(), { telemetry });
  try {
    await world.store.close();
    const response = await fetch(`${world.base}/plans`, {
      headers: { authorization: `Bearer ${world.key}` },
    });
    assert.equal(response.status, 500);
    assert.deepEqual(await counted(world.service.metricsUrl), { 'rest none 500': 1 });
    const { families } = await scrape(world.service.metricsUrl);
    assert.equal(valueOf(families, 'retention_database_up'), 0);
  } finally {
    await world.service.close();
  }
});

/** A server that accepts connections and never responds. */
async function listenSilently(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  return {
    port: address.port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('reports an unresponsive database as down, and shows waiting statements', async () => {
  const silent = await listenSilently();
  const target = `postgres://nobody@127.0.0.1:${silent.port}/nothing`;
  const store = connectAll(target);
  const service = await startTestService(store, { telemetry });
  try {
    const headers = { authorization: `Bearer ${generateKey()}` };
    const answers = ['/plans', '/subscriptions'].map((path) =>
      fetch(`${service.baseUrl}/api/external/v1${path}`, {
        headers: path === '/plans' ? headers : { authorization: `Bearer ${generateKey()}` },
      }),
    );
    const waiting = (families: ReadonlyMap<string, Family>, connection: string) =>
      valueOf(families, 'retention_database_statements_in_flight', { connection });
    let { families } = await until(
      () => scrape(service.metricsUrl),
      (scraped) => (waiting(scraped.families, 'read keys') ?? 0) >= 1,
    );
    assert.equal(valueOf(families, 'retention_database_up'), 0);
    // Both keys are looked up in one statement, or in two consecutive ones.
    assert.equal(waiting(families, 'read keys'), 1);
    // The checks of the first scrape, and no new ones.
    ({ families } = await scrape(service.metricsUrl));
    const checks = waiting(families, 'write') ?? 0;
    assert.ok(checks >= 1);
    ({ families } = await scrape(service.metricsUrl));
    assert.equal(waiting(families, 'write'), checks);
    assert.equal(waiting(families, 'analyse'), 0);

    silent.close();
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [500, 500],
    );
    ({ families } = await scrape(service.metricsUrl));
    assert.equal(waiting(families, 'read keys'), 0);
  } finally {
    silent.close();
    await service.close();
    await store.close();
  }
});

test('serves metrics only on their own port, which closes with the service', async () => {
  const world = await startWorld(openAnyStore(), { telemetry });
  let isOpen = true;
  try {
    const { metricsUrl = '', baseUrl } = world.service;
    assert.equal((await fetch(`${baseUrl}/metrics`)).status, 404);
    assert.notEqual(new URL(metricsUrl).port, new URL(baseUrl).port);
    assert.equal(new URL(metricsUrl).pathname, '/metrics');
    assert.equal((await fetch(`${metricsUrl}?again`)).status, 200);
    const head = await fetch(metricsUrl, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    const { origin } = new URL(metricsUrl);
    for (const path of ['/', '/metrics/', '/api/external/v1/plans', '/healthz']) {
      assert.equal((await fetch(origin + path)).status, 404, path);
    }
    assert.equal((await fetch(metricsUrl, { method: 'POST' })).status, 404);
    await world.service.close();
    isOpen = false;
    await assert.rejects(fetch(metricsUrl), /fetch failed/);
  } finally {
    if (isOpen) await world.service.close();
    await world.store.close();
  }
});

test('serves no metrics without a port', async () => {
  const world = await startWorld(openAnyStore());
  assert.equal(world.service.metricsUrl, undefined);
  await world.close();
});

test('reads gauges at each scrape, and omits them while unknown', async () => {
  const metrics = new ServiceMetrics({ version: '1.2.3', commit: 'c0ffee' });
  let isShared: boolean | undefined;
  metrics.gauge('retention_limiter_shared', () =>
    isShared === undefined ? undefined : Number(isShared),
  );
  metrics.gauge('retention_replica_lag_seconds', () => [
    { labels: ['one:5432'], value: 0.25 },
    { labels: ['two:5432'], value: 3 },
  ]);
  try {
    const first = parseExposition(await metrics.expose());
    assert.ok(!first.has('retention_limiter_shared'));
    const build = { version: '1.2.3', commit: 'c0ffee', node: process.version };
    assert.equal(valueOf(first, 'retention_build_info', build), 1);
    assert.equal(valueOf(first, 'retention_replica_lag_seconds', { replica: 'two:5432' }), 3);
    isShared = true;
    assert.equal(valueOf(parseExposition(await metrics.expose()), 'retention_limiter_shared'), 1);
  } finally {
    metrics.close();
  }
});

test('reports a slow turn of the event loop once', async () => {
  const metrics = new ServiceMetrics({ version: '1.2.3', commit: 'c0ffee' });
  const longest = async () => {
    // A turn is measured when it ends.
    await sleep(1);
    const families = parseExposition(await metrics.expose());
    return valueOf(families, 'retention_event_loop_delay_seconds', { percentile: '100' }) ?? 0;
  };
  try {
    // A busy machine has slow turns as well; one that was never forgotten would stay.
    await until(longest, (seconds) => seconds < 0.9);
    const end = systemClock.monotonic() + 1_000;
    while (systemClock.monotonic() < end);
    assert.ok((await longest()) >= 0.9);
    await until(longest, (seconds) => seconds < 0.9);
  } finally {
    metrics.close();
  }
});
