import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { type Route, createShell } from '../../src/http/shell.ts';
import { createLog } from '../../src/log/log.ts';

async function allFrom(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const ok: Route = {
  method: 'GET',
  url: '/',
  handle: () => ({ status: 200, headers: {}, body: 'ok' }),
};

const createApp = (...routes: Route[]) =>
  createShell({
    log: createLog('silent'),
    routes: [ok, ...routes],
    unrouted: (_path, answer) => answer,
  });

test('closes an excess connection at once, and serves the open ones', async (t) => {
  const app = createApp();
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  assert.equal(app.server.maxConnections, 10_000);
  app.server.maxConnections = 3;
  const sockets = Array.from({ length: 4 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) await once(socket, 'connect');
  const [tooMany, ...open] = sockets.toReversed() as [Socket, ...Socket[]];
  assert.equal(await allFrom(tooMany), '');
  for (const socket of open) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.match(await allFrom(socket), /^HTTP\/1\.1 200 OK\r\n/);
  }
});

/** Answers once the whole body has arrived. */
const echo = (url: string, isSlow: boolean): Route => ({
  method: 'POST',
  url,
  isSlow,
  handle: async ({ raw }) => ({ status: 200, headers: {}, body: await readText(raw) }),
});

describe('slow clients', { concurrency: true }, () => {
  const app = createApp(echo('/quick', false), echo('/slow', true));
  let port = 0;
  before(async () => {
    await app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = app.server.address() as AddressInfo);
    assert.equal(app.server.headersTimeout, 10_000);
    assert.equal(app.server.requestTimeout, 20_000);
    // Shortened for the test; the service checks it every 2 seconds, whatever the limit.
    app.server.headersTimeout = 100;
    app.server.requestTimeout = 200;
  });
  after(() => app.close());

  const slow: [what: string, sent: string][] = [
    ['half a header', 'GET / HTTP/1.1\r\nHost: a\r\nAccep'],
    ['half a request line', 'GET /api/ext'],
  ];
  test('a body that arrives slowly is taken only where the route allows it', async () => {
    const begin = async (url: string) => {
      const socket = await opened(port);
      socket.write(
        `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab`,
      );
      return socket;
    };
    const sockets = await Promise.all(['/slow', '/quick'].map(begin));
    const [slowOne, quick] = sockets as [Socket, Socket];
    // Both have been there as long.
    assert.match(await allFrom(quick), /^HTTP\/1\.1 408 Request Timeout\r\n/);
    slowOne.write('cd');
    assert.match(await allFrom(slowOne), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nabcd$/);
  });

  for (const [what, sent] of slow) {
    test(`a client that sends only ${what} gets 408 and is disconnected`, async () => {
      const socket = await opened(port);
      socket.write(sent);
      const answer = await allFrom(socket);
      const [head = '', body] = answer.split('\r\n\r\n');
      assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/);
      assert.match(head, /\r\ncontent-type: application\/json; charset=utf-8\r\n/i);
      assert.match(head, /\r\nx-request-id: \S+\r\n/i);
      assert.match(head, /\r\nconnection: close$/i);
      assert.equal(body, '{"success":false,"message":"The request took too long to arrive."}');
    });
  }
});

test('many silent clients do not delay others', async (t) => {
  const app = createApp();
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const idle = await Promise.all(Array.from({ length: 300 }, () => opened(port)));
  const halves = await Promise.all(Array.from({ length: 100 }, () => opened(port)));
  for (const socket of halves) socket.write('GET / HTTP/1.1\r\nHo');
  for (let each = 0; each < 20; each += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.deepEqual([response.status, await response.text()], [200, 'ok']);
  }
  for (const socket of [...idle, ...halves]) socket.destroy();
});
