import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { linkShopifyShop } from '../../src/platforms/shopify/store/shops.ts';
import { listJobCounts, retryFailedJobs } from '../../src/store/feeds/jobs.ts';
import { connectAll } from '../../src/store/open.ts';
import { launchServer, run } from '../cli/process.ts';
import { startServedDatabase } from '../lifecycle/served-database.ts';
import { openClient } from '../support/client.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/world.ts';
import { secret, sendWebhook } from '../webhooks/world.ts';
import { type TestSource, push } from './world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const domain = 'shop-1.myshopify.com';
const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};

describe('the job queue', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let key = '';
  let admin: ReturnType<typeof openClient>;
  let source: TestSource;
  before(async () => {
    const served = await startServedDatabase();
    ({ database, key } = served);
    const args = ['ingest', 'create', '--shop', '1', '--name', 'x', '--json'];
    source = JSON.parse((await run(args, { env: served.env })).out);
    admin = openClient(database.url);
    const store = connectAll(database.url);
    await linkShopifyShop(store.write, { shopId: 1, domain });
    await store.close();
    // As in a database that no server has opened.
    await admin.script('drop schema jobs cascade');
    await admin.script('create role serving login; grant create on database postgres to serving');
    for (const schema of ['public', 'owners', 'platforms', 'shopify', 'ingest']) {
      await admin.script(
        `grant usage on schema ${schema} to serving;
         grant all on all tables in schema ${schema} to serving;
         grant all on all sequences in schema ${schema} to serving`,
      );
    }
  });
  after(async () => {
    await admin.end();
    await database.destroy();
  });

  const callers = (baseUrl: string) => ({
    push: () => push(baseUrl, source, [session]),
    webhook: () => sendWebhook(baseUrl, domain, 'subscription_contracts/update', { id: 1001 }),
    plans: async () => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${baseUrl}/api/external/v1/plans`, { headers })).status;
    },
  });

  async function serve() {
    const url = new URL(database.url);
    url.username = 'serving';
    const server = await launchServer('serve', {
      DATABASE_URL: url.href,
      SHOPIFY_CLIENT_SECRET: secret,
      SYNC: 'off',
    });
    return { ...server, call: callers(server.baseUrl) };
  }
  const stop = async ({ child, ended }: Awaited<ReturnType<typeof serve>>) => {
    child.kill('SIGTERM');
    const { code, err } = await ended;
    assert.equal(code, 0);
    return err;
  };

  test('has no jobs before a server has opened it', async () => {
    assert.deepEqual(await listJobCounts(admin), []);
    assert.equal(await retryFailedJobs(admin, 1), 0);
  });

  test('is opened once its tables may be created; the API is served before', async () => {
    await admin.unsafe('revoke create on database postgres from serving');
    const server = await serve();
    const { baseUrl, call } = server;
    const [line = ''] = await server.logged(/.*job queue not opened.*/);
    assert.match(line, /permission denied for database postgres/);
    assert.equal(await call.plans(), 200);
    for (const refused of [await call.push(), await call.webhook()]) {
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60']);
    }
    const forged = await push(baseUrl, { ...source, secret: 'whsec_bm9uZQ==' }, [session]);
    assert.equal(forged.status, 401);
    const batches = await admin`select from ingest.batches`;
    assert.equal(batches.length, 0);

    await admin.unsafe('grant create on database postgres to serving');
    await until(call.push, ({ status }) => status === 202);
    await until(call.webhook, ({ status }) => status === 200);
    const log = await stop(server);
    assert.equal(log.match(/job queue not opened/g)?.length, 1);
    assert.match(log, /job queue opened/);
  });

  test('is opened while the API is served, however long it takes', async () => {
    const held = await admin.reserve();
    await held`begin`;
    await held`lock table jobs.queue in access exclusive mode`;
    const server = await serve();
    const { call } = server;
    assert.equal(await call.plans(), 200);
    assert.equal((await call.webhook()).status, 503);
    await held`rollback`;
    held.release();
    await until(call.push, ({ status }) => status === 202);
    await stop(server);
  });

  test('is opened by a database that was a standby when the server started', async () => {
    const replica = await database.startReplica();
    const store = connectAll(replica.url);
    const service = await startTestService(store, { clock: systemClock });
    const { baseUrl } = service;
    assert.equal((await push(baseUrl, source, [session])).status, 503);
    const promoter = openClient(replica.url);
    await promoter`select pg_promote()`;
    await until(callers(baseUrl).push, ({ status }) => status === 202);
    await service.close();
    await Promise.all([store.close(), promoter.end()]);
    await replica.destroy();
  });

  test('is opened once a database answers that was away, and closed while it is', async () => {
    await database.stop();
    const [store, other] = [connectAll(database.url), connectAll(database.url)];
    await (await startTestService(other)).close();
    await other.close();
    const service = await startTestService(store, { clock: systemClock });
    const { baseUrl } = service;
    assert.equal((await fetch(`${baseUrl}/healthz`)).status, 200);
    assert.equal((await push(baseUrl, source, [session])).status, 503);
    await database.start();
    await until(callers(baseUrl).push, ({ status }) => status === 202);
    await service.close();
    await store.close();
  });
});
