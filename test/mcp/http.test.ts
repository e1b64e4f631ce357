import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { bearer, type RawAnswer, request } from '../rest/raw.ts';
import {
  createShop,
  createTestKey,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import {
  assertValidAnswer,
  inShort,
  legacyRequest,
  mcpPath,
  modernHeaders,
  modernRequest,
  postRaw,
} from './wire.ts';

const json = 'content-type: application/json';
const ping = JSON.stringify(legacyRequest('ping'));
const pong = '200 2025-06-18';

/** The headers of a response, without those that always differ. */
function lasting({ headers }: RawAnswer): object {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return rest;
}

describe('MCP over HTTP', () => {
  let world: World;
  /** Sends the key and these headers only. */
  const send = (body: string | Uint8Array, ...headers: string[]) =>
    postRaw(world.service.baseUrl, [bearer(world.key), ...headers], body);

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.endpoint.post, mcp.endpoint.json.
  test('accepts a JSON message with a key, and responds with JSON', async () => {
    const answer = await send(ping, json);
    assert.equal(answer.status, 200);
    assert.equal(answer.body, '{"jsonrpc":"2.0","id":1,"result":{}}');
    assert.deepEqual(lasting(answer), {
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-store',
      'content-length': '36',
      connection: 'close',
    });
  });

  // Requirements: mcp.endpoint.405, mcp.endpoint.no-sessions.
  test('responds 405 with Allow: POST to any other method, with or without a key', async () => {
    const methods = ['GET', 'DELETE', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'];
    for (const method of methods) {
      for (const headers of [
        [],
        [bearer(world.key)],
        ['authorization: Bearer nonsense'],
        ['accept: text/event-stream', 'Mcp-Session-Id: 1', 'Last-Event-ID: 2'],
        ['origin: http://evil.example.com'],
        ['content-length: 5', 'content-type: text/plain'],
      ]) {
        const answer = await request(world.service.baseUrl, method, mcpPath, headers, '');
        assert.equal(answer.status, 405, method);
        assert.equal(answer.headers['allow'], 'POST');
        const body = method === 'HEAD' ? '' : '{"success":false,"message":"Method not allowed."}';
        assert.equal(answer.body, body);
      }
    }
  });

  test('responds 404 to other paths that clients probe', async () => {
    for (const path of [
      '/api/mcp/',
      '/api/MCP',
      '/mcp',
      '/api/mcp/sse',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/api/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/register',
    ]) {
      for (const method of ['GET', 'POST']) {
        const answer = await request(world.service.baseUrl, method, path);
        assert.equal(answer.status, 404, path);
        assert.equal(answer.body, '{"success":false,"message":"Not found."}');
      }
    }
    const { status } = await request(
      world.service.baseUrl,
      'POST',
      '/api/mcp?x=1',
      [bearer(world.key), json, `content-length: ${ping.length}`],
      ping,
    );
    assert.equal(status, 200);
  });

  test('refuses a foreign origin with 403, before checking the key', async () => {
    const { origin, port } = new URL(world.service.baseUrl);
    // It listens on loopback, so all of these are its own origins.
    for (const own of ['127.0.0.1', 'localhost', '[::1]']) {
      assert.equal(inShort(await send(ping, json, `origin: http://${own}:${port}`)), pong, own);
    }
    for (const foreign of [
      'null',
      '',
      'http://evil.example.com',
      `https://127.0.0.1:${port}`,
      `https://localhost:${port}`,
      'http://127.0.0.1',
      'http://localhost',
      `http://localhost:${Number(port) + 1}`,
      `http://127.0.0.2:${port}`,
      `http://[::1]:${port}/`,
      `http://::1:${port}`,
      `http://localhost.example.com:${port}`,
      `http://user@localhost:${port}`,
      'localhost',
      'http://',
      ':',
      `${origin}/`,
      `${origin}.example.com`,
      `${origin}, ${origin}`,
      origin.toUpperCase(),
    ]) {
      for (const key of [world.key, 'nonsense']) {
        const headers = [bearer(key), json, `origin: ${foreign}`];
        const answer = await postRaw(world.service.baseUrl, headers, ping);
        assert.equal(inShort(answer), '403 Requests from this origin are not allowed.', foreign);
      }
    }
    const twice = await send(ping, json, `origin: ${origin}`, `origin: ${origin}`);
    assert.equal(twice.status, 403);
  });

  test('refuses an encoded body with 415, after the origin and before the key', async () => {
    const refused = '415 The request body must not be encoded: leave Content-Encoding out.';
    for (const encoding of ['gzip', 'GZIP', 'deflate', 'br', 'zstd', 'identity, gzip', 'x', '*']) {
      for (const key of [world.key, 'nonsense']) {
        const headers = [bearer(key), json, `content-encoding: ${encoding}`];
        const answer = await postRaw(world.service.baseUrl, headers, ping);
        assert.equal(inShort(answer), refused, encoding);
        assert.equal(answer.headers['accept-encoding'], 'identity');
      }
      const foreign = [json, `content-encoding: ${encoding}`, 'origin: http://evil.example.com'];
      assert.equal(
        inShort(await send(ping, ...foreign)),
        '403 Requests from this origin are not allowed.',
      );
    }
    const twice = await send(ping, json, 'content-encoding: identity', 'content-encoding: gzip');
    assert.equal(inShort(twice), refused);
    for (const encoding of ['identity', 'Identity', '', ' ', 'identity,identity', ',']) {
      const answer = await send(ping, json, `content-encoding: ${encoding}`);
      assert.equal(inShort(answer), pong, encoding);
    }
  });

  // Requirements: mcp.auth.bearer, mcp.auth.same-401, mcp.auth.envelope.
  test('responds 401 in the envelope without a valid key, whatever the body', async () => {
    const bodies = [ping, '', '{', '[]', JSON.stringify(modernRequest('tools/list'))];
    for (const body of bodies) {
      for (const headers of [
        [json],
        [json, 'authorization: Bearer nonsense'],
        [json, bearer('rtn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlZZfdg')],
        [json, `authorization: Basic ${world.key}`],
        [json, bearer(world.key), bearer(world.key)],
        ['content-type: text/plain', ...modernHeaders('tools/list')],
      ]) {
        const answer = await postRaw(world.service.baseUrl, headers, body);
        assert.equal(answer.status, 401);
        assert.equal(answer.body, '{"success":false,"message":"Unauthorized"}');
        assert.deepEqual(lasting(answer), {
          'x-content-type-options': 'nosniff',
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'private, no-store',
          'www-authenticate': 'Bearer',
          'content-length': '42',
          connection: 'close',
        });
      }
    }
  });

  // Requirements: mcp.auth.tier, mcp.auth.envelope.
  test('responds 403 in the envelope on Free and Starter, whatever the body', async () => {
    for (const tier of ['free', 'starter'] as const) {
      const shop = await createShop(world.store, { tier });
      const { key } = await createTestKey(world.store, shop.id);
      for (const body of [ping, '{', '[]', '{"jsonrpc":"2.0","method":"x"}']) {
        const answer = await postRaw(world.service.baseUrl, [bearer(key), json], body);
        assert.equal(
          inShort(answer),
          '403 Developer API access requires the Growth plan or higher.',
        );
      }
    }
  });

  // Requirements: mcp.revision.per-request, mcp.endpoint.no-sessions.
  test('keeps no state between requests on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const onOne = (message: object, headers: readonly string[] = []) =>
      new Promise<string>((resolve, reject) => {
        const body = JSON.stringify(message);
        const lines = [bearer(world.key), json, `content-length: ${body.length}`, ...headers];
        const outgoing = httpRequest(
          `${world.service.baseUrl}${mcpPath}`,
          {
            method: 'POST',
            agent,
            headers: ['host: x', ...lines].flatMap((each) => each.split(': ')),
          },
          async (incoming) => {
            ports.add(incoming.socket.localPort);
            const text = Buffer.concat(await incoming.toArray()).toString();
            const answer = {
              status: incoming.statusCode ?? 0,
              headers: incoming.headers as Record<string, string>,
              body: text,
            };
            assertValidAnswer(answer);
            resolve(inShort(answer));
          },
        );
        outgoing.once('error', reject);
        outgoing.end(body);
      });
    const old = () => onOne(legacyRequest('tools/list'));
    const modern = () => onOne(modernRequest('tools/list'), modernHeaders('tools/list'));
    const initialize = () => onOne(legacyRequest('initialize'));

    // A call before any handshake, a handshake in between, and both revisions in turn.
    const statuses = [await old(), await modern(), await initialize(), await modern(), await old()];
    statuses.push(await onOne(modernRequest('tools/list')), await old());
    statuses.push(
      await onOne(legacyRequest('tools/list'), ['MCP-Protocol-Version: v999']),
      await old(),
    );
    assert.deepEqual(statuses, [
      '200 2025-06-18',
      '200 2026-07-28',
      '200 2025-06-18',
      '200 2026-07-28',
      '200 2025-06-18',
      '400 -32020 Header mismatch: MCP-Protocol-Version must be 2026-07-28, as _meta says.',
      '200 2025-06-18',
      '400 -32022 Unsupported protocol version',
      '200 2025-06-18',
    ]);
    assert.equal(ports.size, 1, 'all on one connection');
    agent.destroy();
  });
});
