import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { bearer, exchange, checkRaw, request } from './raw.ts';

const v1 = '/api/external/v1';
const notFound = '{"success":false,"message":"Not found."}';
const notAllowed = '{"success":false,"message":"Method not allowed."}';
const badHost =
  '{"success":false,"message":"The Host header must be a host name or an IP address, optionally with a port."}';
const operationPaths = [
  '/api/external/entitlements?customerId=1',
  `${v1}/entitlements?customerId=1`,
  `${v1}/subscriptions`,
  `${v1}/subscriptions/1`,
  `${v1}/metrics/summary`,
  `${v1}/plans`,
  `${v1}/cancellations`,
];

describe('request lines and Host headers', () => {
  let world: World;
  const send = (method: string, path: string) =>
    request(world.service.baseUrl, method, path, [bearer(world.key)]);
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

  // Invented, from RTSP, from HTTP/2, in lower case, with every character valid in a method, and CONNECT.
  const methods = [
    'FOO',
    'GETX',
    'PLAY',
    'PRI',
    'GET_PARAMETER',
    'get',
    "M!#$%&'*+-.^_`|~9",
    'CONNECT',
  ];

  test('get 405 with Allow for an unknown method on a known path, and 404 elsewhere', async () => {
    for (const method of methods) {
      for (const [path, status, allow] of [
        ...operationPaths.map((each) => [each, 405, 'GET, HEAD'] as const),
        ['/api/mcp', 405, 'POST'],
        ['/docs', 405, 'GET, HEAD'],
        ['/app/sign-in', 405, 'GET, HEAD, POST'],
        [`${v1}/%70lans`, 405, 'GET, HEAD'],
        [`http://example.com${v1}/plans`, 405, 'GET, HEAD'],
        [`${v1}/nothing`, 404, undefined],
        [`${v1}/%zz`, 404, undefined],
        ['/', 404, undefined],
      ] as const) {
        const answer = await send(method, path);
        assert.equal(answer.status, status, `${method} ${path}`);
        assert.equal(answer.headers['allow'], allow);
        assert.equal(answer.body, status === 405 ? notAllowed : notFound);
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
        assert.match(answer.headers['x-request-id'] ?? '', /^[\w-]{36}$/);
      }
    }
    assert.equal((await sendRaw('FOO * HTTP/1.0\r\n\r\n')).status, 404);
  });

  test('get a response in turn for an unknown method, even if split between packets', async () => {
    const { hostname, port } = new URL(world.service.baseUrl);
    const plans = `GET ${v1}/plans HTTP/1.1\r\nhost: a\r\n${bearer(world.key)}\r\n\r\n`;
    const post = 'POST /api/mcp HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}';
    for (const [parts, statuses] of [
      [[`${plans}${plans}FOO ${v1}/plans HTTP/1.1\r\nhost: a\r\n\r\n`], [200, 200, 405]],
      [[`${plans}nonsense\r\n\r\n`], [200, 400]],
      [[`${post}\r\nFOO /api/mcp HTTP/1.1\r\n\r\n`], [401, 405]],
      [[`${plans}PRI ${v1}/plans HTTP/1.1\r\nhost: a\r\n\r\n`], [200, 405]],
      [['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], [400]],
      [[`${plans}GET ${v1}/plans HTTP/3.1\r\n\r\n`], [200, 400]],
      [['F', 'OO', ' ', `${v1}/pl`, 'ans HTTP', '/1.1', '\r', '\n', 'host: a'], [405]],
      [
        [plans, 'FO', `O ${v1}/nothing HTTP/1.1\r\n`, '\r\n', 'more'],
        [200, 404],
      ],
      [['FOO ', `${v1}/plans\x01`], [400]],
      [['FOO ', 'a'.repeat(10_000), 'a'.repeat(10_000)], [400]],
    ] as const) {
      const socket = connect(Number(port), hostname).setNoDelay();
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      await once(socket, 'connect');
      for (const part of parts) {
        socket.write(part);
        await sleep(5);
      }
      await until(() => socket.closed || socket.readableEnded);
      const seen = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      assert.deepEqual(seen, statuses, parts.join('|').slice(0, 200));
      socket.destroy();
    }
  });

  test('get 400 if Host is repeated or invalid', async () => {
    for (const path of [`${v1}/plans`, '/nothing', '/healthz', '/api/mcp']) {
      for (const method of ['GET', 'POST']) {
        const twice = await sendRaw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nhOsT: a\r\n\r\n`);
        assert.equal(twice.status, 400);
        assert.equal(
          twice.body,
          '{"success":false,"message":"There must be only one Host header."}',
        );
        const { status, body } = await sendRaw(`${method} ${path} HTTP/1.1\r\nHost: a, b\r\n\r\n`);
        assert.equal(status, 400);
        assert.equal(body, badHost);
      }
    }
    assert.equal(
      (await sendRaw('GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n')).status,
      400,
    );
    assert.equal((await sendRaw('CONNECT a:1 HTTP/1.1\r\nHost: a b\r\n\r\n')).status, 400);
    for (const host of ['', '[::1]:8787', 'retention.example:443']) {
      assert.equal((await sendRaw(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status, 200);
    }
  });
});
