import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { generateKey } from '../src/access/keys/key-format.ts';
import { generateShop } from '../src/demo/generate.ts';
import { connectAll } from '../src/store/open.ts';
import { createShop, createTestKey, importAll, now, startWorld } from '../test/support/world.ts';

const postgres = process.env['TEST_POSTGRES'];
const skip = postgres === undefined && 'PostgreSQL is not available on this machine';

/** The most that a Growth key may send in a day; sent here as fast as possible. */
const requests = 86_400;
/** The clock's step between requests: a Growth key with a fifth of them exceeds its limit. */
const stepMilliseconds = 100;
const concurrency = 32;
/** No memory may be retained per request; the measurement varies by a megabyte in total. */
const bytesPerRequest = 24;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The lowest of several measurements, since buffers vary by hundreds of kilobytes. */
async function retainedBytes(): Promise<number> {
  let lowest = Infinity;
  for (let measurement = 0; measurement < 5; measurement += 1) {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    lowest = Math.min(lowest, heapUsed + external);
    await sleep(100);
  }
  return lowest;
}

describe('a day of requests', { skip, timeout: 1_200_000 }, () => {
  test('leaks no memory', async (t) => {
    const store = { ...connectAll(postgres as string), failed: new Promise<Error>(() => {}) };
    const world = await startWorld(store);
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    t.after(async () => {
      agent.destroy();
      await world.close();
    });
    await importAll(store, world.shop, [
      ...generateShop({
        subscriptions: 60,
        seed: 9,
        endAt: Date.parse(now),
        currency: 'USD',
        minorDigits: 2,
      }),
    ]);
    const growth = await createShop(store, { tier: 'growth' });
    const { key: limited } = await createTestKey(store, growth.id);

    const paths = [
      '/v1/entitlements?customerId=501',
      '/v1/subscriptions?limit=10',
      '/v1/subscriptions/1001',
      '/v1/metrics/summary',
      '/v1/plans',
      '/v1/cancellations?limit=10',
      '/v1/subscriptions/424242',
      '/v1/nowhere',
    ];
    const keys = [() => world.key, () => world.key, () => limited, generateKey, () => 'rtn_wrong'];
    const statuses = new Map<number, number>();
    const send = (index: number) =>
      new Promise<void>((resolve, reject) => {
        const isMcp = index % 7 === 0;
        const path = isMcp ? '/api/mcp' : `/api/external${paths[index % paths.length]}`;
        const sent = request(
          world.service.baseUrl + path,
          {
            agent,
            method: isMcp ? 'POST' : 'GET',
            headers: {
              authorization: `Bearer ${keys[index % keys.length]?.()}`,
              ...(isMcp && {
                'content-type': 'application/json',
                accept: 'application/json, text/event-stream',
                'mcp-protocol-version': '2025-06-18',
              }),
            },
          },
          (response) => {
            const status = response.statusCode ?? 0;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            response.resume().once('end', resolve);
          },
        );
        sent.once('error', reject);
        const call = { name: 'list_plans', arguments: {} };
        sent.end(
          isMcp
            ? JSON.stringify({ jsonrpc: '2.0', id: index, method: 'tools/call', params: call })
            : undefined,
        );
      });

    let next = 0;
    const sendUntil = (end: number) =>
      Promise.all(
        Array.from({ length: concurrency }, async () => {
          while (next < end) {
            world.clock.advance(stepMilliseconds);
            await send((next += 1));
          }
        }),
      );

    await sendUntil(requests / 4);
    const retainedBefore = await retainedBytes();
    await sendUntil(requests);
    const retained = ((await retainedBytes()) - retainedBefore) / (requests * 0.75);

    assert.ok(retained < bytesPerRequest, `${retained} bytes are held of each request`);
    for (const status of [200, 401, 404, 429])
      assert.ok((statuses.get(status) ?? 0) > requests / 100);
    assert.deepEqual(
      [...statuses.keys()].filter((status) => ![200, 401, 404, 429].includes(status)),
      [],
    );
  });
});
