import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/open.ts';
import { launch, migratedFolder, runProcess, throwawayFolder } from '../cli/process.ts';
import { Visitor, password } from '../owner/visitor.ts';
import { plan, subscription } from '../rest/records.ts';
import { parseExposition, valueOf } from '../telemetry/exposition.ts';
import { until } from '../support/until.ts';

const secret = 'a_secret_of_sixteen_characters';
const through = [process.execPath, path.join(import.meta.dirname, 'stub-cli.ts')] as const;

/** stub-cli.ts registers the platform in one line; everything else about it is in stub.ts. */
describe('a platform that is only added to the registry', { timeout: 600_000 }, () => {
  const records = new Map<number, object>();
  let source: Server;
  let url = '';
  let env: Record<string, string>;
  /** Runs the database until the server does, so that not every command has to. */
  let database: EmbeddedServer;
  const stub = (...args: string[]) => runProcess(args, { env, through });

  before(async () => {
    source = createServer((request, response) => {
      const [, , id] = (request.url ?? '').split('/');
      const all = [plan({ id: 11 }), ...records.values()];
      const one = id === undefined ? all : [plan({ id: 11 }), records.get(Number(id))];
      response.end(JSON.stringify(one));
    }).listen(0, '127.0.0.1');
    await once(source, 'listening');
    url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
    const credentials = path.join(throwawayFolder(), 'stub.json');
    writeFileSync(credentials, JSON.stringify({ shops: [{ shop: 7, url }] }));
    const folder = migratedFolder();
    database = await openEmbedded(folder, { role: 'command' });
    env = {
      RETENTION_DATA_DIR: folder,
      STUB_CREDENTIALS_FILE: credentials,
      STUB_SECRET: secret,
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
    };
    const shop = ['--id', '7', '--name', 'x', '--currency', 'USD', '--tier', 'pro'];
    assert.equal((await stub('shops', 'create', ...shop)).code, 0);
    records.set(1, subscription(1));
    records.set(2, subscription(2));
  });
  after(async () => {
    await database.close();
    source.close();
  });

  test('has a sync command', async () => {
    const synced = await stub('sync', 'stub', '--once');
    assert.deepEqual(
      [synced.code, synced.out],
      [0, 'Shop 7: read all 3 records; 3 records written, 0 deleted, 0 lines refused.\n'],
    );
    const line = synced.err.split('\n').find((each) => each.includes('"shop synced"')) ?? '{}';
    const { platform, account, requests } = JSON.parse(line);
    assert.deepEqual([platform, account, requests], ['stub', url, 1]);
    assert.match(
      (await stub('help')).out,
      /^ {2}sync stub +keeps shops in sync with Stub until stopped/m,
    );
    const refused = await runProcess(['sync', 'stub'], {
      env: { ...env, STUB_CREDENTIALS_FILE: '/nowhere' },
      through,
    });
    assert.deepEqual([refused.code, refused.out], [2, '']);
    assert.match(refused.err, /STUB_CREDENTIALS_FILE, \/nowhere, is not usable/);
  });

  test('can be imported from files', async () => {
    const file = path.join(throwawayFolder(), 'export.ndjson');
    writeFileSync(file, JSON.stringify(subscription(9)));
    const imported = await stub('import', '--shop', '7', '--from', 'stub', file);
    assert.equal(imported.code, 0, imported.err);
  });

  // One server, which ends with its test.
  test('is served', async (t) => {
    const invited = await stub('owners', 'invite', '--shop', '7', '--email', 'ana@example.com');
    const [link = ''] = /\/app\/links\/[\w-]{43}/.exec(invited.out) ?? [];
    await database.close();
    const serving = launch(['serve'], { env, through });
    const [, baseUrl = ''] = await serving.said(/listens on (\S+)\n/);
    const [, metricsUrl = ''] = await serving.logged(/"metricsUrl":"([^"]+)"/);

    await t.test('has webhooks and metrics, and appears on the dashboard', async () => {
      records.set(3, subscription(3));
      const body = JSON.stringify({ url, event: 'evt_1', id: 3 });
      const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
      const send = (text: string, signature: string) =>
        fetch(`${baseUrl}/webhooks/stub`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'stub-signature': signature },
          body: text,
        });
      // Again while a busy machine opens the job queue.
      const accepted = await until(
        () => send(body, sign(body)),
        ({ status }) => status !== 503,
      );
      assert.equal(accepted.status, 200);
      assert.equal((await send(body, '0'.repeat(64))).status, 401);
      assert.equal((await send('{}', sign('{}'))).status, 400);
      const visitor = new Visitor(baseUrl);
      await visitor.get(link);
      assert.equal((await visitor.post(link, { password })).location, '/app');
      const stored = async () => (await visitor.get('/app/shops/7/subscriptions/3')).status;
      assert.equal(await until(stored, (status) => status === 200), 200);

      const dashboard = await visitor.get('/app/shops/7');
      for (const label of ['Stub, scheduled sync', 'Stub webhooks', 'Stub files']) {
        assert.ok(dashboard.text.includes(`scope="row">${label}<td`), label);
      }
      const metrics = parseExposition(await (await fetch(metricsUrl)).text());
      for (const feed of ['stub', 'stub-webhooks', 'stub-file']) {
        assert.equal(valueOf(metrics, 'retention_feed_shops', { feed }), 1);
      }
      assert.equal(valueOf(metrics, 'retention_webhook_jobs', { state: 'failed' }), 0);
      const synced = (platform: string) =>
        ['ok', 'failing', 'refused'].map((state) =>
          valueOf(metrics, 'retention_sync_shops', { platform, state }),
        );
      assert.deepEqual(
        [synced('stub'), synced('shopify')],
        [
          [1, 0, 0],
          [0, 0, 0],
        ],
      );
    });

    await t.test('appears in feeds status, and its credentials in doctor', async () => {
      const { out } = await stub('feeds', 'status', '--json');
      const feeds = JSON.parse(out) as { feed: string; webhooks?: object }[];
      assert.deepEqual(
        feeds.map(({ feed, webhooks }) => [feed, webhooks]),
        [
          ['stub', undefined],
          ['stub-file', undefined],
          ['stub-webhooks', {}],
        ],
      );
      const doctor = await stub('doctor');
      assert.match(doctor.out, /^ok {4}stub credentials: shop 7$/m);
      assert.match(doctor.out, /^stubSecret +redacted$/m);
    });

    await t.test('stops with the server', async () => {
      serving.child.kill('SIGTERM');
      assert.equal((await serving.ended).code, 0);
    });
  });
});
