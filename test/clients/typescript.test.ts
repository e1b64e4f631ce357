import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { AuthenticationError, Retention } from '../../clients/typescript/src/index.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, get, importAll, startWorld } from '../support/world.ts';

const client = path.join(import.meta.dirname, '../../clients/typescript');
const root = path.join(client, '../..');

onOneDatabase('the TypeScript client', (open) => {
  let world: World;
  let retention: Retention;
  before(async () => {
    await promisify(execFile)('node_modules/.bin/tsc', ['-p', `${client}/tsconfig.build.json`], {
      cwd: root,
    });
    world = await startWorld(open());
    const records = [
      plan(),
      ...Array.from({ length: 250 }, (_, index) => subscription(1001 + index)),
      subscription(2001, { customerId: 502, status: 'cancelled', statusEvents: [] }),
      session(7001, { outcome: 'saved', subscriptionId: 1001 }),
      session(7002),
    ];
    const { refused } = await importAll(world.store, world.shop, records);
    assert.deepEqual(refused, []);
    retention = new Retention({ baseUrl: world.service.baseUrl, key: world.key });
  });
  after(() => world.close());

  test('answers what the API answers', async () => {
    const { base, key } = world;
    const { body: entitlements } = await get(`${base}/entitlements?customerId=501`, key);
    assert.deepEqual(await retention.getEntitlements(501), entitlements.subscriptions);
    const { body: detail } = await get(`${base}/subscriptions/1001`, key);
    assert.deepEqual(await retention.getSubscription(1001), detail.subscription);
    const { body: summary } = await get(`${base}/metrics/summary`, key);
    assert.deepEqual(await retention.getMetricsSummary(), summary.summary);
    const { body: plans } = await get(`${base}/plans`, key);
    assert.deepEqual(await retention.listPlans(), plans.plans);
    const { body: page } = await get(`${base}/cancellations?outcome=saved`, key);
    const saved = await Array.fromAsync(retention.listCancellations({ outcome: 'saved' }));
    assert.deepEqual(saved, page.cancellations);
  });

  test('walks all pages of a list, each entry once', async () => {
    const ids = await Array.fromAsync(
      retention.listSubscriptions({ status: 'active' }),
      ({ subscriptionId }) => subscriptionId,
    );
    assert.equal(ids.length, 250);
    assert.equal(new Set(ids).size, 250);
  });

  test('says who is entitled, and that a wrong key says nothing about it', async () => {
    assert.equal(await retention.entitled(501), true);
    assert.equal(await retention.entitled(501, { planIds: [12] }), false);
    assert.equal(await retention.entitled(502), false);
    const stranger = new Retention({ baseUrl: world.service.baseUrl, key: 'rtn_wrong' });
    await assert.rejects(stranger.entitled(501), AuthenticationError);
  });

  /** Starts an example, which uses the package as it would be published. */
  function run(example: string, env: Record<string, string> = {}) {
    return spawn(process.execPath, [path.join(client, 'examples', example)], {
      env: {
        ...process.env,
        RETENTION_URL: world.service.baseUrl,
        RETENTION_API_KEY: world.key,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  test('exports all subscriptions as CSV (example)', async () => {
    const child = run('export.ts');
    const [text, [status]] = await Promise.all([readText(child.stdout), once(child, 'exit')]);
    assert.equal(status, 0);
    const lines = text.trimEnd().split('\n');
    assert.equal(lines.length, 252);
    assert.ok(lines.includes('"1001","501","active","Monthly box","30.6"'), text);
  });

  test('posts the figures of the day (example)', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const child = run('daily.ts', { WEBHOOK_URL: `http://127.0.0.1:${port}/` });
    const [request, response] = await once(server, 'request');
    const { text } = JSON.parse(await readText(request));
    response.end();
    assert.equal((await once(child, 'exit'))[0], 0);
    assert.match(text, /^\$7,650\.00 MRR, 1 active subscribers\n/);
    server.close();
  });

  test('gates by entitlement (example)', async () => {
    const child = run('gate.ts', { PORT: '0' });
    const [line] = await once(child.stdout, 'data');
    const port = /port (\d+)/.exec(String(line))?.[1];
    const ask = async (customer: string) =>
      (await fetch(`http://127.0.0.1:${port}/?customer=${customer}`)).status;
    assert.deepEqual(await Promise.all(['501', '502', 'x'].map(ask)), [200, 402, 400]);
    child.kill();
    await once(child, 'exit');
  });
});
