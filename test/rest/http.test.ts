import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/until.ts';
import { get, openAnyStore, openOwnStore, startWorld, type World } from '../support/world.ts';
import { bearer, exchange, checkRaw, type RawAnswer, request } from './raw.ts';

const v1 = '/api/external/v1';
const operationPaths = [
  '/api/external/entitlements?customerId=1',
  `${v1}/entitlements?customerId=1`,
  `${v1}/subscriptions`,
  `${v1}/subscriptions/1`,
  `${v1}/metrics/summary`,
  `${v1}/plans`,
  `${v1}/cancellations`,
];
const openPaths = [`${v1}/openapi.json`, '/docs', '/healthz', '/readyz'];
const notFound = '{"success":false,"message":"Not found."}';

function stable({ status, headers }: RawAnswer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, headers: rest };
}

describe('HTTP', () => {
  let world: World;
  const send = (method: string, path: string, headers: readonly string[] = [bearer(world.key)]) =>
    request(world.service.baseUrl, method, path, headers);
  /** Sends an unusual request, and checks that the response is still an envelope. */
  const sendRaw = async (bytes: string) => {
    const answer = await exchange(world.service.baseUrl, bytes);
    assert.ok(answer, 'not answered');
    checkRaw('', answer);
    return answer;
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: rest.service.base-path, rest.endpoints.envelope, rest.errors.envelope.
  test('responds 404 in the envelope to unknown paths, with or without a key', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/external',
      v1,
      `${v1}/`,
      `${v1}/nothing`,
      `${v1}/plans/`,
      `${v1}/plans/1`,
      `${v1}/PLANS`,
      `${v1}//plans`,
      `/${v1}/plans`,
      `//example.com${v1}/plans`,
      `${v1}/./plans`,
      `${v1}/x/../plans`,
      `${v1}/plans;a=b`,
      `${v1}/plans%2F`,
      `${v1}/metrics%2Fsummary`,
      `${v1}/metrics`,
      `${v1}/subscriptions/1/`,
      `${v1}/subscriptions/1/lineItems`,
      `${v1}/%zz`,
      `${v1}/plans%`,
      `${v1}/%`,
      `${v1}/%C0%80`,
      '/%00',
      '/%2e%2e/',
      '/constructor',
      '/__proto__',
      '*',
      'http://',
      'http://example.com',
      `/${'a'.repeat(8000)}`,
    ]) {
      for (const headers of [[], [bearer(world.key)]]) {
        const { status, body } = await send('GET', path, headers);
        assert.equal(status, 404, path);
        assert.equal(body, notFound, path);
      }
    }
  });

  test('accepts equivalent spellings and the absolute form of a path', async () => {
    for (const path of [`${v1}/%70lans`, `${v1}/plans?`, `http://example.com${v1}/plans`]) {
      assert.equal((await send('GET', path)).status, 200, path);
    }
    assert.equal((await send('POST', `http://example.com${v1}/plans`)).status, 405);
  });

  test('treats an id with invalid percent-encoding as unknown', async () => {
    for (const id of ['%zz', '%', '%C0%80', '%E0%A4', '1%']) {
      const { status, body } = await send('GET', `${v1}/subscriptions/${id}`);
      assert.equal(status, 404);
      assert.equal(body, '{"success":false,"message":"Subscription not found."}');
    }
  });

  // Requirements: rest.endpoints.get-only.
  test('responds 405 with Allow to any method but GET and HEAD, whatever the key', async () => {
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
    for (const path of [...operationPaths, ...openPaths]) {
      for (const method of methods) {
        const { status, headers, body } = await send(method, path, []);
        assert.equal(status, 405, `${method} ${path}`);
        assert.equal(headers['allow'], 'GET, HEAD');
        assert.equal(body, '{"success":false,"message":"Method not allowed."}');
      }
    }
    assert.equal((await send('POST', `${v1}/nothing`)).status, 404);
    const connect = await sendRaw('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n');
    assert.equal(connect.status, 405);
    assert.equal(connect.headers['allow'], 'GET, HEAD');
  });

  test('ignores the body of a GET', async () => {
    for (const type of ['application/json', 'text/plain', 'no/such; type']) {
      const headers = [bearer(world.key), `content-type: ${type}`, 'content-length: 5'];
      const answer = await request(world.service.baseUrl, 'GET', `${v1}/plans`, headers, '{"a":');
      assert.equal(answer.status, 200);
    }
  });

  test('responds to HEAD as to GET, without the body', async () => {
    for (const headers of [[], [bearer(world.key)]]) {
      for (const path of [...operationPaths, `${v1}/entitlements`, `${v1}/nothing`, ...openPaths]) {
        const head = await send('HEAD', path, headers);
        assert.equal(head.body, '');
        assert.deepEqual(stable(head), stable(await send('GET', path, headers)), path);
      }
    }
  });

  // Requirements: rest.service.no-cors.
  test('sends no CORS headers, even to a preflight', async () => {
    const browser = [
      'origin: https://example.com',
      'access-control-request-method: GET',
      'access-control-request-headers: authorization',
    ];
    for (const path of [...operationPaths, ...openPaths, '/nothing']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        for (const headers of [browser, [...browser, bearer(world.key)]]) {
          const answer = await send(method, path, headers);
          const names = Object.keys(answer.headers);
          const cors = names.filter((name) => name.startsWith('access-control-'));
          assert.deepEqual(cors, []);
        }
      }
    }
  });

  test('sends its own unique X-Request-Id with every response', async () => {
    const answers = [
      ...(await Promise.all(operationPaths.map((path) => send('GET', path)))),
      ...(await Promise.all(openPaths.map((path) => send('GET', path, [])))),
      await send('GET', `${v1}/plans`, []),
      await send('HEAD', `${v1}/plans`),
      await send('GET', `${v1}/entitlements`),
      await send('GET', '/nothing'),
      await send('POST', `${v1}/plans`),
      await send('GET', `${v1}/plans`, ['x-request-id: mine', 'request-id: mine']),
      await sendRaw('nonsense\r\n\r\n'),
      await sendRaw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`),
      await sendRaw('CONNECT x HTTP/1.1\r\nhost: x\r\n\r\n'),
    ];
    const ids = answers.map(({ headers }) => headers['x-request-id'] ?? '');
    for (const id of ids) assert.match(id, /^[\w-]{8,}$/);
    assert.equal(new Set(ids).size, answers.length);
  });

  test('responds 400 in the envelope to anything but HTTP', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET\r\n\r\n',
      `F@O ${v1}/plans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `F\0O ${v1}/plans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `FOO plans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `FOO ${v1}/plans HTTP/9.9\r\nhost: x\r\n\r\n`,
      `FOO ${v1}/plans\r\nhost: x\r\n\r\n`,
      `FOO  ${v1}/plans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nFOO ${v1}/plans HTTP/1.1\r\n\r\n`,
      `GET plans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${v1}/plans HTTP/9.9\r\nhost: x\r\n\r\n`,
      `GET ${v1}/pl\x01ans HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${v1}/pläne HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nhost x\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nhost: x\r\nna me: x\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nhost: x\r\nname: a\0b\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n`,
      `GET ${v1}/plans HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
    ]) {
      const { status, headers, body } = await sendRaw(bytes);
      assert.equal(status, 400, bytes);
      assert.equal(headers['connection'], 'close');
      assert.equal(body, '{"success":false,"message":"The request could not be read."}');
    }
  });

  test('refuses a missing Host with 400, except in HTTP/1.0', async () => {
    const { status, body } = await sendRaw(`GET /healthz HTTP/1.1\r\n\r\n`);
    assert.equal(status, 400);
    assert.equal(body, '{"success":false,"message":"The Host header is missing."}');
    assert.equal((await sendRaw(`GET /healthz HTTP/1.0\r\n\r\n`)).status, 200);
  });

  test('ignores unknown expectations', async () => {
    assert.equal((await send('GET', '/healthz', ['expect: miracles'])).status, 200);
    assert.equal((await send('GET', '/nothing', ['expect: miracles'])).status, 404);
  });

  test('responds 431 in the envelope to headers over 16 KiB', async () => {
    for (const bytes of [
      `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
    ]) {
      const { status, body } = await sendRaw(bytes);
      assert.equal(status, 431);
      assert.equal(
        body,
        '{"success":false,"message":"The request line and headers are larger than 16384 bytes."}',
      );
    }
    const id = '9'.repeat(15_000);
    assert.equal((await send('GET', `${v1}/subscriptions/${id}`)).status, 404);
  });

  // Requirements: rest.endpoints.json.
  test('sends uncacheable JSON for requests with a key', async () => {
    for (const path of [...operationPaths, `${v1}/entitlements`]) {
      for (const headers of [[], [bearer(world.key), 'accept: text/html']]) {
        const answer = await send('GET', path, headers);
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
        assert.equal(answer.headers['cache-control'], 'private, no-store');
        assert.equal(answer.headers['etag'], undefined);
      }
    }
  });

  test('returns the same bytes from the alias as from its version', async () => {
    for (const query of ['?customerId=1', '', '?customerId=x', '?customerId=1&x=%zz']) {
      for (const headers of [[], [bearer(world.key)]]) {
        const alias = await send('GET', `/api/external/entitlements${query}`, headers);
        const versioned = await send('GET', `${v1}/entitlements${query}`, headers);
        assert.equal(alias.body, versioned.body);
        assert.deepEqual(stable(alias), stable(versioned));
      }
    }
  });

  // Requirements: rest.versions.contract.
  test('serves the OpenAPI document, the reference and the health checks without a key', async () => {
    const contract = await get(`${world.base}/openapi.json`);
    assert.equal(contract.status, 200);
    assert.match(contract.body.openapi, /^3\.1\./);
    const paths = Object.keys(contract.body.paths).filter((path) => path.startsWith(v1));
    assert.deepEqual(paths, [
      '/api/external/v1/entitlements',
      '/api/external/v1/subscriptions',
      '/api/external/v1/subscriptions/{id}',
      '/api/external/v1/metrics/summary',
      '/api/external/v1/plans',
      '/api/external/v1/cancellations',
    ]);
    const reference = await send('GET', '/docs', []);
    assert.equal(reference.status, 200);
    assert.equal(reference.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal((await send('GET', '/healthz', [])).body, '{"status":"ok"}');
    const ready = '{"status":"ready","database":"up"}';
    // If the database is busy for two seconds, it is reported as unavailable.
    await until(async () => (await send('GET', '/readyz', [])).body === ready);
  });

  // Requirements: rest.errors.500.
  test('responds 500 without details to an internal error, and keeps running', async (t) => {
    const failing = await startWorld(openOwnStore());
    t.after(() => failing.service.close());
    assert.equal((await get(`${failing.base}/plans`, failing.key)).status, 200);
    await failing.store.close();
    for (const path of operationPaths) {
      for (const key of [failing.key, 'rtn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlZZfdg']) {
        const answer = await request(failing.service.baseUrl, 'GET', path, [bearer(key)]);
        assert.equal(answer.status, 500);
        assert.equal(answer.body, '{"success":false,"message":"Internal server error."}');
        assert.equal(answer.headers['cache-control'], 'private, no-store');
        assert.equal(answer.headers['retry-after'], '2');
      }
    }
    // A mistyped key is refused without a look-up, so even now.
    const mistyped = 'rtn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlZZfdA';
    assert.equal((await get(`${failing.base}/plans`, mistyped)).status, 401);
    const readiness = await request(failing.service.baseUrl, 'GET', '/readyz');
    assert.equal(readiness.status, 503);
    assert.equal((await request(failing.service.baseUrl, 'GET', '/healthz')).status, 200);
  });
});
