import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { limits } from '../../src/http/connections.ts';
import { type Route, createShell } from '../../src/http/shell.ts';
import { createLog } from '../../src/log/log.ts';
import { until } from '../support/until.ts';

/** More than the buffers at both ends of a connection hold. */
const body = Buffer.alloc(16 * 1024 * 1024, 'a').toString();
const large: Route = {
  method: 'GET',
  url: '/large',
  handle: () => ({ status: 200, headers: {}, body }),
};
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** A server that waits this long for clients that accept no data. */
async function start(t: TestContext, stallTimeout: number, ...routes: Route[]) {
  assert.equal(limits.stallTimeout, 15_000);
  const app = createShell({
    log: createLog('silent'),
    routes: [large, ...routes],
    unrouted: (_path, answer) => answer,
    stallTimeout,
  });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    server: app.server,
    countConnections: promisify(app.server.getConnections.bind(app.server)),
    async open(): Promise<Socket> {
      const socket = connect(port, '127.0.0.1').pause();
      socket.on('error', () => {});
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      return socket;
    },
  };
}

test('disconnects clients that stop reading, however many requests they sent', async (t) => {
  const { countConnections, open } = await start(t, 100);
  for (let each = 0; each < 20; each += 1) {
    const socket = await open();
    socket.write(get('/large').repeat(1 + (each % 5)));
  }
  await until(countConnections, (count) => count === 0);
});

test('a slow client gets all of a long response', async (t) => {
  const { server, open } = await start(t, 5_000);
  let timeouts = 0;
  server.on('timeout', () => {
    timeouts += 1;
  });
  const socket = await open();
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  let received = 0;
  const slowUntil = performance.now() + 6_000;
  for await (const chunk of socket) {
    received += (chunk as Buffer).length;
    if (performance.now() < slowUntil) await sleep(10);
  }
  assert.ok(received > body.length);
  assert.equal(timeouts, 0);
});

test('a slow response is sent, however long its connection was idle', async (t) => {
  const answered = Promise.withResolvers<void>();
  const late: Route = {
    method: 'GET',
    url: '/late',
    async handle() {
      await answered.promise;
      return { status: 200, headers: {}, body: 'late' };
    },
  };
  const { server, open } = await start(t, 50, late);
  const socket = await open();
  const timedOut = once(server, 'timeout');
  socket.write(get('/late').repeat(2));
  await timedOut;
  answered.resolve();
  let text = '';
  socket.resume().on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(() => text.split('\r\n\r\nlate').length - 1 === 2);
});

test('closes an idle connection after the idle timeout', async (t) => {
  const { server, open } = await start(t, 15_000, {
    method: 'GET',
    url: '/short',
    handle: () => ({ status: 200, headers: {}, body: 'ok' }),
  });
  server.keepAliveTimeout = 50;
  server.keepAliveTimeoutBuffer = 0;
  const socket = await open();
  socket.resume().write(get('/short'));
  await once(socket, 'close');
});

test('up to 64 requests of a connection wait for an earlier one; one more closes the connection', async (t) => {
  const release = Promise.withResolvers<void>();
  let handled = 0;
  const held: Route = {
    method: 'GET',
    url: '/held',
    async handle() {
      handled += 1;
      await release.promise;
      return { status: 200, headers: {}, body: '.' };
    },
  };
  const { open } = await start(t, 15_000, held);
  const [full, excess] = [await open(), await open()];
  let text = '';
  full.resume().on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  full.write(get('/held').repeat(65));
  await until(() => handled === 65);
  excess.resume().write(get('/held').repeat(1_000));
  await once(excess, 'close');
  assert.ok(handled <= 65 + 65, `${handled} were handled`);
  release.resolve();
  await until(() => text.split('HTTP/1.1 200 OK').length - 1 === 65);
  // Answered requests no longer count.
  full.write(get('/held').repeat(65));
  await until(() => text.split('HTTP/1.1 200 OK').length - 1 === 130);
});

test('a client that sends CONNECT and disconnects causes no error and leaves no connection', async (t) => {
  const { countConnections, open } = await start(t, 15_000);
  for (let each = 0; each < 50; each += 1) {
    const socket = await open();
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    if (each % 2 === 0) await sleep(each % 5);
    socket.resetAndDestroy();
  }
  const staying = await open();
  staying.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(countConnections, (count) => count === 0);
});
