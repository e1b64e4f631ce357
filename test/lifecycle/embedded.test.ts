import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { type Running, launchServer, run, runProcess, throwawayFolder } from '../cli/process.ts';
import { Visitor, password } from '../owner/visitor.ts';
import { until } from '../support/until.ts';
import { lingering } from './preload.ts';

const folder = path.join(throwawayFolder(), 'data');
const env = { RETENTION_DATA_DIR: folder };

async function statusWith(url: string, key: string): Promise<number> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status;
}

/** Signs in as the demo's owner, by the link that it prints on every start. */
async function signIn(
  { said, baseUrl }: Running & { readonly baseUrl: string },
  newPassword: string,
): Promise<void> {
  const [, link = ''] = await said(/Owner's pages: http:\/\/[\d.:]+(\/app\/links\/[\w-]{43})\n/);
  const visitor = new Visitor(baseUrl);
  await visitor.get(link);
  assert.equal((await visitor.post(link, { password: newPassword })).location, '/app');
  assert.equal((await visitor.get('/app')).location, '/app/shops/1');
}

function socketFolder(): string {
  const { socketPath } = JSON.parse(readFileSync(path.join(folder, 'server.json'), 'utf8'));
  return path.dirname(socketPath);
}

// The life of one data folder in several steps, since opening a new one takes seconds.
test('the embedded database from its first start', async (t) => {
  let demoKey = '';

  await t.test('demo fills nothing, so that no key is lost, while its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failed = await runProcess(['demo'], {
      env: { ...env, PORT: String(port), LOG_LEVEL: 'warn', ...lingering },
    });
    other.close();
    assert.deepEqual(failed, {
      code: 1,
      signal: null,
      out: '',
      err: `retention: 127.0.0.1:${port} is already in use by another process. Choose another PORT.\n`,
    });
  });

  await t.test('demo fills an empty folder and prints a working command and link', async () => {
    const demo = await launchServer('demo', { ...env, LOG_LEVEL: 'warn' });
    const [, key = '', url = ''] = await demo.said(
      /curl -H "Authorization: Bearer (rtn_[\w-]{43})" (http:\S+)\n/,
    );
    demoKey = key;
    assert.equal(url, `${demo.baseUrl}/api/external/v1/metrics/summary`);
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    const body = (await response.json()) as { summary: { activeSubscribers: number } };
    assert.ok(body.summary.activeSubscribers > 0);
    await signIn(demo, password);

    const sockets = socketFolder();
    demo.child.kill('SIGINT');
    const { code, out, err } = await demo.ended;
    assert.equal(code, 0, err);
    assert.equal(out.match(/rtn_/g)?.length, 2);
    assert.equal(err, 'Filling the empty database with a demo shop. This takes a few seconds.\n');
    assert.equal(existsSync(sockets), false);
    assert.equal(existsSync(path.join(folder, 'server.json')), false);
  });

  await t.test(
    'a second demo keeps the data, prints another link, and explains how to create a key',
    async () => {
      const demo = await launchServer('demo', env);
      await demo.said(/The demo shop is still there\./);
      const [, command = ''] = await demo.said(
        /in another terminal in this folder:\n {2}(RETENTION_DATA_DIR=.* keys create .*)\n/,
      );
      await demo.said(/curl -H "Authorization: Bearer \$RETENTION_API_KEY" http:/);
      const url = `${demo.baseUrl}/api/external/v1/plans`;
      assert.equal(await statusWith(url, demoKey), 200);

      // As it stands, in a shell that has no variables of the server.
      const made = await runProcess(['-c', command], { through: ['sh'] });
      assert.equal(made.code, 0, made.err);
      assert.equal(await statusWith(url, made.out.trimEnd()), 200);
      await signIn(demo, `new ${password}`);
      demo.child.kill('SIGTERM');
      const { code, out } = await demo.ended;
      assert.equal(code, 0);
      assert.doesNotMatch(out, /rtn_/);
    },
  );

  await t.test('demo --new-key prints another key, and the first stays valid', async () => {
    const demo = await launchServer('demo', env, '--new-key');
    const [, key = ''] = await demo.said(
      /The demo shop is still there\.\nIt has a new key, .*\n {2}(rtn_[\w-]{43})\n/,
    );
    const url = `${demo.baseUrl}/api/external/v1/plans`;
    assert.notEqual(key, demoKey);
    assert.equal(await statusWith(url, key), 200);
    assert.equal(await statusWith(url, demoKey), 200);
    demo.child.kill('SIGTERM');
    assert.equal((await demo.ended).code, 0);
  });

  const shop = ['--shop', '2'];
  let server = await launchServer('serve', env);
  const plans = () => `${server.baseUrl}/api/external/v1/plans`;
  let kept = '';

  await t.test('reports that it is live and ready', async () => {
    const lives = await fetch(`${server.baseUrl}/healthz`);
    assert.deepEqual([lives.status, await lives.json()], [200, { status: 'ok' }]);
    const ready = await until(
      () => fetch(`${server.baseUrl}/readyz`),
      ({ status }) => status === 200,
    );
    assert.deepEqual(await ready.json(), { status: 'ready', database: 'up' });
  });

  await t.test('a second server names the process that uses the folder', async () => {
    const { code, out, err } = await runProcess(['serve'], { env: { ...env, PORT: '0' } });
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      `retention: The embedded database in ${folder} is held by process ${server.child.pid} (a running server). ` +
        'Stop that process first, choose another RETENTION_DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.\n',
    );
  });

  // Requirements: rest.auth.revoked-at-once.
  await t.test('commands reach the running server', async () => {
    const name = ['--name', 'Second', '--currency', 'EUR'];
    assert.equal((await run(['shops', 'create', '--id', '2', ...name], { env })).code, 0);
    const key = async () => {
      const scopes = ['--name', 'k', '--scopes', 'read:plans,read:subscriptions', '--json'];
      const { out } = await run(['keys', 'create', ...shop, ...scopes], { env });
      return JSON.parse(out) as { id: string; key: string };
    };
    const [first, second] = [await key(), await key()];
    kept = second.key;
    assert.equal(await statusWith(plans(), first.key), 200);

    const input = `{"type":"plan","id":1,"name":"Taken in","planType":"other","intervalUnit":"month","intervalCount":1}\n`;
    const imported = await run(['import', ...shop, '-'], { env, input });
    assert.equal(imported.code, 0, imported.err);
    const response = await fetch(plans(), { headers: { authorization: `Bearer ${kept}` } });
    const body = (await response.json()) as { plans: { name: string }[] };
    assert.deepEqual(
      body.plans.map((plan) => plan.name),
      ['Taken in'],
    );

    // Used until the last moment, so that the server's lease on the key is as recent as possible.
    const revocation = new AbortController();
    const using = (async () => {
      while (!revocation.signal.aborted) await statusWith(plans(), first.key);
    })();
    const revoked = await run(['keys', 'revoke', ...shop, first.id], { env });
    const after = await statusWith(plans(), first.key);
    revocation.abort();
    await using;
    assert.deepEqual([revoked.code, after], [0, 401]);
    assert.equal(await statusWith(plans(), kept), 200);
  });

  // Requirements: rest.auth.tier-required.
  await t.test('a change of tier takes effect when the command exits', async () => {
    assert.equal((await run(['shops', 'set-tier', '2', 'starter'], { env })).code, 0);
    assert.equal(await statusWith(plans(), kept), 403);
    assert.equal((await run(['shops', 'set-tier', '2', 'pro'], { env })).code, 0);
    assert.equal(await statusWith(plans(), kept), 200);
  });

  await t.test('loses no acknowledged write when killed', async () => {
    const sockets = socketFolder();
    server.child.kill('SIGKILL');
    assert.equal((await server.ended).signal, 'SIGKILL');

    server = await launchServer('serve', env);
    assert.equal(existsSync(sockets), false);
    assert.equal(await statusWith(plans(), kept), 200);
    assert.equal(await statusWith(plans(), demoKey), 200);
    const { out } = await run(['keys', 'list', ...shop, '--json'], { env });
    const keys = JSON.parse(out) as { revokedAt: string | null }[];
    assert.deepEqual(
      keys.map(({ revokedAt }) => revokedAt === null),
      [false, true],
    );
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });
});
