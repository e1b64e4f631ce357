import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { runs } from '../support/seed.ts';
import { get, importAll, openAnyStore, startWorld, type World } from '../support/world.ts';
import { bearer, exchange, checkRaw, type RawAnswer, request } from './raw.ts';
import { plan, session, subscription } from './records.ts';

const v1 = '/api/external/v1';
const knownPaths = [
  '/api/external/entitlements',
  `${v1}/entitlements`,
  `${v1}/subscriptions`,
  `${v1}/subscriptions/1`,
  `${v1}/metrics/summary`,
  `${v1}/plans`,
  `${v1}/cancellations`,
  `${v1}/openapi.json`,
  '/docs',
  '/healthz',
  '/readyz',
];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE'];

/** Any bytes except those that end a request line or header. */
const oneLine = fc
  .string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)) })
  .filter((text) => !text.includes('\x7f'));
const words = fc.oneof(
  fc.constantFrom('', '1', '501', '9'.repeat(400), '-1', '1e1', 'active', 'saved', '__proto__'),
  fc.string().map(encodeURIComponentSafely),
  fc.string({ unit: 'binary' }).map(encodeURIComponentSafely),
  fc.constantFrom('%', '%zz', '%00', '%C0%80', '%ED%A0%80'),
);
const query = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('customerId', 'limit', 'cursor', 'status', 'outcome'), words),
      words,
    ),
    { maxLength: 4 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));

function encodeURIComponentSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function assertValid(path: string, answer: RawAnswer): void {
  assert.ok(answer.status < 500, `${answer.status}: ${answer.body}`);
  assert.match(answer.headers['x-request-id'] ?? '', /^[\w-]{8,}$/);
  checkRaw(path, answer);
}

describe('fuzzed REST requests', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore());
    await importAll(world.store, world.shop, [
      plan(),
      ...[1, 2, 3].map((id) => subscription(id)),
      ...[1, 2, 3].map((id) => session(id)),
    ]);
  });
  after(async () => {
    const { status } = await get(`${world.base}/plans`, world.key);
    assert.equal(status, 200, 'it answers as before');
    await world.close();
  });

  test('get a valid 200, 400 or 404 for any parameter', async () => {
    const paths = fc.oneof(
      fc.constantFrom(...knownPaths.slice(0, 7)),
      words.map((id) => `${v1}/subscriptions/${id}`),
    );
    await fc.assert(
      fc.asyncProperty(paths, query, async (path, parameters) => {
        const url = `${path}?${parameters}`;
        const answer = await request(world.service.baseUrl, 'GET', url, [bearer(world.key)]);
        assert.ok([200, 400, 404].includes(answer.status), String(answer.status));
        assertValid(path, answer);
      }),
      runs(400),
    );
  });

  test('get no 500 for any method, path, headers and body', async () => {
    const target = fc.oneof(
      fc.tuple(fc.constantFrom(...knownPaths), oneLine).map(([path, rest]) => path + rest),
      oneLine.map((path) => `/${path}`),
      oneLine,
    );
    const headers = fc.array(
      fc.oneof(
        oneLine.map((value) => `authorization: ${value}`),
        oneLine.map((value) => `authorization: Bearer rtn_${value}`),
        fc.constant('authorization: valid'),
        fc
          .tuple(fc.constantFrom('accept', 'x-request-id', 'content-type', 'origin', 'x'), oneLine)
          .map(([name, value]) => `${name}: ${value}`),
      ),
      { maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods),
        target,
        headers,
        fc.string(),
        async (method, path, lines, body) => {
          const sent = lines.map((each) =>
            each === 'authorization: valid' ? bearer(world.key) : each,
          );
          sent.push(`content-length: ${Buffer.byteLength(body)}`);
          const answer = await request(world.service.baseUrl, method, path, sent, body);
          assertValid(path, answer);
        },
      ),
      runs(400),
    );
  });

  test('get a valid response or none for any bytes', async () => {
    const whole = Buffer.from(
      `GET ${v1}/plans?limit=1 HTTP/1.1\r\nhost: x\r\naccept: */*\r\nconnection: close\r\n\r\n`,
    );
    const damaged = fc
      .array(
        fc.tuple(
          fc.nat(whole.length - 1),
          fc.uint8Array({ maxLength: 3 }),
          fc.integer({ min: 0, max: 3 }),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((edits) =>
        edits.reduce(
          (bytes, [at, inserted, removed]) =>
            Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]),
          whole,
        ),
      );
    const anything = fc.uint8Array({ minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, anything), async (bytes) => {
        const ended = Buffer.concat([bytes, Buffer.from('\r\n\r\n')]);
        const answer = await exchange(world.service.baseUrl, ended, 200);
        if (answer) assertValid('', answer);
      }),
      runs(400),
    );
  });
});
