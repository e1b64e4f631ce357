import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { CredentialsRefused, PlatformError } from '../../../src/platforms/errors.ts';
import { createShopifyClient } from '../../../src/platforms/shopify/api/client.ts';
import { createLog } from '../../../src/log/log.ts';
import { noBackoff } from './synced.ts';

const accessToken = 'shpat_0123456789abcdef0123456789abcdef';
const documentOf = (name: string) => `query ${name} { shop { id } }`;

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The connection is cut, or no response is sent. */
  readonly fails?: 'cut' | 'silent';
}

const cost = (requestedQueryCost: number, currentlyAvailable: number, restoreRate = 100) => ({
  requestedQueryCost,
  actualQueryCost: requestedQueryCost,
  throttleStatus: { maximumAvailable: 2000, currentlyAvailable, restoreRate },
});

const data = { shop: { id: 'gid://shopify/Shop/1' } };
const success: Reply = { body: { data, extensions: { cost: cost(10, 1990) } } };

const throttled = (requested: number, available: number): Reply => ({
  body: {
    errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
    extensions: { cost: { ...cost(requested, available), actualQueryCost: null } },
  },
});

/** A server that sends these responses one after the other, and a client for it. */
async function begin(t: TestContext, replies: readonly Reply[], pointsShare?: number) {
  const left = [...replies];
  const requests: { url: string | undefined; token: unknown; type: unknown }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const { url, headers } = request;
    requests.push({ url, token: headers['x-shopify-access-token'], type: headers['content-type'] });
    const { status = 200, headers: more = {}, body = {}, fails } = left.shift() ?? {};
    if (fails === 'cut') return void request.socket.destroy();
    if (fails === 'silent') return;
    response.writeHead(status, more);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const clock = new FixedClock('2026-11-20T12:00:00Z');
  const backoff = noBackoff(clock);
  const logLines: string[] = [];
  const stopping = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createShopifyClient({
    domain: 'sample-shop.myshopify.com',
    origin: url,
    async accessToken(refused) {
      if (refused === undefined) return accessToken;
      throw new CredentialsRefused('There is no other token.');
    },
    pointsShare,
    clock,
    log: createLog('debug', { write: (line) => void logLines.push(line) }),
    backoff,
    // Short, because a test waits until it passes, but long enough for a busy machine.
    ...(replies.some(({ fails }) => fails === 'silent') && { timeoutMilliseconds: 1_500 }),
    signal: stopping.signal,
  });
  return { url, client, clock, backoff, logLines, requests, stopping };
}

const rejection = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => assert.fail('It was not refused.'),
    (error: Error) => error,
  );

test('sends a query to the pinned API version, with the token in its header', async (t) => {
  const { client, requests, backoff } = await begin(t, [success]);
  assert.deepEqual(await client.query(documentOf('A')), data);
  assert.deepEqual(requests, [
    { url: '/admin/api/2026-10/graphql.json', token: accessToken, type: 'application/json' },
  ]);
  assert.deepEqual(backoff.waited, []);
  assert.deepEqual([client.usage.queries, client.usage.cost], [1, 10]);
});

test('waits before a query until the bucket has refilled enough', async (t) => {
  const low: Reply = { body: { data, extensions: { cost: cost(202, 118) } } };
  const { client, clock, backoff } = await begin(t, [low, success, low, success]);
  await client.query(documentOf('A'));
  await client.query(documentOf('A'));
  // 84 points at 100 a second.
  assert.deepEqual(backoff.waited, [840]);
  // A query of unknown cost does not wait; the bucket refills with time.
  await client.query(documentOf('B'));
  clock.advance(500);
  await client.query(documentOf('B'));
  assert.deepEqual(backoff.waited, [840, 340]);
});

test('leaves the other share of the bucket alone, also before a query of unknown cost', async (t) => {
  const answers = [1400, 990, 1300, 500, 1990, 1990].map((available): Reply => {
    const body = { data, extensions: { cost: cost(202, available) } };
    return { body };
  });
  const { client, clock, backoff } = await begin(t, answers, 0.5);
  await client.query(documentOf('A'));
  // 1,400 - 202 are more than half of the bucket.
  await client.query(documentOf('A'));
  assert.deepEqual(backoff.waited, []);
  // 212 points are lacking, at 100 a second.
  await client.query(documentOf('A'));
  assert.deepEqual(backoff.waited, [2120]);
  // B may cost 1,000.
  await client.query(documentOf('B'));
  assert.deepEqual(backoff.waited, [2120, 7000]);
  // What others used is in the answer: 702 points are lacking, less those of a second.
  clock.advance(1000);
  await client.query(documentOf('B'));
  assert.deepEqual(backoff.waited, [2120, 7000, 6020]);
});

test('sends a query that costs more than the share once the bucket is full', async (t) => {
  const answers = [1800, 1990].map((available): Reply => {
    return { body: { data, extensions: { cost: cost(402, available) } } };
  });
  const { client, backoff } = await begin(t, answers, 0.1);
  await client.query(documentOf('A'));
  await client.query(documentOf('A'));
  assert.deepEqual(backoff.waited, [2000]);
});

test('retries a throttled query once the bucket has refilled enough', async (t) => {
  const { client, backoff, requests } = await begin(t, [throttled(202, 118), success]);
  assert.deepEqual(await client.query(documentOf('A')), data);
  // Half of 250 ms as jitter, then the rest until the bucket has refilled.
  assert.deepEqual(backoff.waited, [125, 715]);
  assert.equal(requests.length, 2);
});

test('gives up after 20 throttled responses, and says so in one sentence', async (t) => {
  const { client } = await begin(
    t,
    Array.from({ length: 40 }, () => throttled(10, 0)),
  );
  const error = await rejection(client.query(documentOf('A')));
  assert.ok(error instanceof PlatformError);
  assert.equal(
    error.message,
    'sample-shop.myshopify.com has throttled the same query 20 times; another process may be using the same token.',
  );
});

test('retries after 5xx, lost connections, timeouts, invalid JSON and internal errors', async (t) => {
  const internal = {
    errors: [{ message: 'Internal error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  };
  for (const reply of [
    { status: 500 },
    { status: 503 },
    { fails: 'cut' },
    { fails: 'silent' },
    { body: '<html>' },
    { body: {} },
    { body: internal },
  ] as const satisfies Reply[]) {
    const { client, backoff } = await begin(t, [reply, reply, success]);
    assert.deepEqual(await client.query(documentOf('A')), data, JSON.stringify(reply));
    // Full jitter: half of 1 s, half of 2 s.
    assert.deepEqual(backoff.waited, [500, 1000], JSON.stringify(reply));
  }
});

test('waits after 429 as long as Shopify says', async (t) => {
  const slow: Reply = { status: 429, headers: { 'retry-after': '2.0' } };
  const { client, backoff } = await begin(t, [slow, success]);
  await client.query(documentOf('A'));
  assert.deepEqual(backoff.waited, [2500]);
});

test('gives up after six attempts', async (t) => {
  const { client, requests } = await begin(
    t,
    Array.from({ length: 9 }, () => ({ status: 502 })),
  );
  const error = await rejection(client.query(documentOf('A')));
  assert.ok(error instanceof PlatformError);
  assert.deepEqual(
    [error.kind, error.message],
    ['unavailable', 'Querying sample-shop.myshopify.com failed 6 times: it answered 502.'],
  );
  assert.equal(requests.length, 6);
});

test('does not retry a refusal, and explains it in one sentence', async (t) => {
  const denied = 'Access denied for subscriptionContracts field.';
  const refusals: readonly (readonly [Reply, string])[] = [
    [{ status: 402 }, 'is frozen: its bill is not paid.'],
    [{ status: 403 }, 'denies this app access (403).'],
    [{ status: 404 }, 'does not have this API (404); check the domain.'],
    [{ status: 423 }, 'is locked by Shopify (423).'],
    [{ status: 400, body: 'no' }, 'answered with an unexpected status (400).'],
    [
      { body: { errors: [{ message: denied, extensions: { code: 'ACCESS_DENIED' } }] } },
      `refused a query: ${denied}`,
    ],
    [{ body: { errors: 'Not\nFound' } }, 'refused a query: Not Found.'],
    [
      { body: { errors: [{ message: `Who is ${accessToken}` }] } },
      'refused a query: Who is [redacted].',
    ],
  ];
  for (const [reply, sentence] of refusals) {
    const { client, requests } = await begin(t, [reply, success]);
    const error = await rejection(client.query(documentOf('A')));
    assert.ok(error instanceof PlatformError);
    assert.deepEqual(
      [error.kind, error.message],
      ['refused', `sample-shop.myshopify.com ${sentence}`],
    );
    assert.equal(requests.length, 1);
  }
});

test('asks for another token when one is refused, and gives up without one', async (t) => {
  const { client, requests } = await begin(t, [{ status: 401 }, success]);
  const error = await rejection(client.query(documentOf('A')));
  assert.ok(error instanceof CredentialsRefused);
  assert.equal(requests.length, 1);
});

test('does not follow redirects, so that no other server gets the token', async (t) => {
  const elsewhere = await begin(t, [success]);
  const { client, requests } = await begin(t, [
    { status: 307, headers: { location: elsewhere.url } },
    success,
  ]);
  const error = await rejection(client.query(documentOf('A')));
  assert.match(error.message, /unexpected status \(307\)/);
  assert.deepEqual([requests.length, elsewhere.requests.length], [1, 0]);
});

test('keeps the token out of the log and errors', async (t) => {
  const replies: Reply[] = [
    { status: 500 },
    { fails: 'cut' },
    { fails: 'silent' },
    { status: 401 },
  ];
  const { client, logLines } = await begin(t, replies);
  const error = await rejection(client.query(documentOf('A')));
  const shown = [...logLines, error.message, error.stack, JSON.stringify(client)].join('\n');
  assert.equal(logLines.length, 3);
  assert.ok(!shown.includes(accessToken.slice(6)));
});

test('aborts a running query with the reason of the signal', async (t) => {
  const { client, stopping } = await begin(t, [{ fails: 'silent' }]);
  const pending = rejection(client.query(documentOf('A')));
  const reason = new Error('Enough.');
  stopping.abort(reason);
  assert.equal(await pending, reason);
});
