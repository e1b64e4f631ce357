import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Ended, launch, launchServer } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { until } from '../support/until.ts';
import { startServedDatabase } from './served-database.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const secret = 'a_secret_of_sixteen_characters';

describe('stopping ends at its deadline', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let env: Record<string, string>;
  let key = '';

  before(async () => {
    ({ database, env, key } = await startServedDatabase({
      STOP_SECONDS: '1',
      SHOPIFY_CLIENT_SECRET: secret,
    }));
  });
  after(async () => {
    database.thaw();
    await database.destroy();
  });

  /** A connection on which this much has been sent and received. */
  async function withSent(baseUrl: string, text: string): Promise<Socket> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => {});
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(text, resolve));
    // Everything sent before this has been read.
    await fetch(`${baseUrl}/healthz`, { headers: { connection: 'close' } });
    return socket;
  }

  const countRequests = async () => {
    const [row] = await onServer<{ count: number }>(
      database.url,
      'select coalesce(sum(requests), 0)::int as count from request_counts',
    );
    return row?.count;
  };

  function assertEnded({ code, signal, err }: Ended, expected: number): void {
    assert.deepEqual([code, signal], [expected, null], err);
    assert.doesNotMatch(err, /rtn_[A-Za-z0-9]/);
  }

  const head = () => `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
  /** Half a head, and half a body of a GET, of a message to MCP, and of a webhook. */
  const unfinished = () => [
    `GET /api/external/v1/plans HTTP/1.1\r\n${head()}`,
    `GET /api/external/v1/plans HTTP/1.1\r\n${head()}Content-Length: 10\r\n\r\nhalf`,
    `POST /api/mcp HTTP/1.1\r\n${head()}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"json`,
    `POST /webhooks/shopify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Shopify-Topic: app/uninstalled\r\nX-Shopify-Shop-Domain: a.myshopify.com\r\nX-Shopify-Hmac-Sha256: ${'A'.repeat(43)}=\r\nX-Shopify-Webhook-Id: 1\r\nContent-Length: 99\r\n\r\n{"half`,
  ];
  // At once, because each waits for its deadline.
  describe('with a client', { concurrency: true }, () => {
    // Leaves a busy machine three seconds from closing the connections to the end.
    const launchPatient = () => launchServer('serve', { ...env, STOP_SECONDS: '10' });

    test('that sent half of something', async () => {
      const server = await launchPatient();
      const sockets = await Promise.all(unfinished().map((sent) => withSent(server.baseUrl, sent)));
      server.child.kill('SIGTERM');
      assertEnded(await server.ended, 0);
      for (const socket of sockets) socket.destroy();
    });

    test('that does not read its responses', async () => {
      const server = await launchPatient();
      const few = 'GET /docs HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10);
      const socket = await withSent(server.baseUrl, few);
      // More than the buffers at both ends hold, but never enough pending at once to be disconnected.
      for (let each = 0; each < 40; each += 1) {
        socket.write(few);
        await fetch(`${server.baseUrl}/healthz`);
      }
      server.child.kill('SIGTERM');
      assertEnded(await server.ended, 0);
      socket.destroy();
    });
  });

  test('key usage is stored at once, not only when the last client has disconnected', async () => {
    const server = await launchServer('serve', { ...env, STOP_SECONDS: '600' });
    const stored = (await countRequests()) ?? 0;
    for (let each = 0; each < 3; each += 1) {
      const headers = { authorization: `Bearer ${key}`, connection: 'close' };
      await fetch(`${server.baseUrl}/api/external/v1/plans`, { headers });
    }
    const socket = await withSent(server.baseUrl, 'GET /api');
    server.child.kill('SIGTERM');
    await until(countRequests, (count) => count === stored + 3);
    assert.deepEqual([server.child.exitCode, server.child.signalCode], [null, null]);
    socket.destroy();
    assertEnded(await server.ended, 0);
  });

  test('with suspended workers: they are killed', async () => {
    const args = ['serve', '--workers', '2'];
    const tree = launch(args, { env: { ...env, REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' } });
    const [, baseUrl = ''] = await tree.said(/listens on (\S+)\n/);
    const [, pid] = await tree.logged(/"pid":(\d+).*"msg":"listening"/);
    process.kill(Number(pid), 'SIGSTOP');
    tree.child.kill('SIGTERM');
    assertEnded(await tree.ended, 1);
    await assert.rejects(fetch(baseUrl));
  });

  for (const what of ['idle', 'with requests that wait']) {
    test(`with a frozen database, ${what}`, async (t) => {
      const server = await launchServer('serve', env);
      const headers = { authorization: `Bearer ${key}` };
      const send = () => fetch(`${server.baseUrl}/api/external/v1/plans`, { headers });
      await send();
      t.after(() => database.thaw());
      database.freeze();
      const requests = what === 'idle' ? [] : [send(), send()];
      for (const each of requests) each.catch(() => {});
      await fetch(`${server.baseUrl}/healthz`);
      server.child.kill('SIGTERM');
      const { signal, code } = await server.ended;
      // 1 if something was given up.
      assert.ok(signal === null && (code === 0 || code === 1), `${signal} ${code}`);
      await Promise.allSettled(requests);
    });
  }
});
