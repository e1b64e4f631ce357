import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bearer, type RawAnswer, request } from '../rest/raw.ts';
import {
  createShop,
  createTestKey,
  get,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import { callModern, inShort, legacyRequest, post, postRaw } from './wire.ts';
import type { Tier } from '../../src/vocabulary.ts';

const left = ({ headers }: RawAnswer) => headers['ratelimit'];

describe('limits of MCP', () => {
  let world: World;
  const keyOf = async (tier: Tier): Promise<World> => {
    const shop = await createShop(world.store, { tier });
    const { key } = await createTestKey(world.store, shop.id);
    return { ...world, shop, key };
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.service.shared, mcp.limits.shared, mcp.limits.one-message,
  // mcp.endpoint.one-message.
  test('counts every message as one request, in the window shared with REST', async () => {
    const caller = await keyOf('growth');
    const sendMessage = (body: object | string, ...headers: string[]) =>
      post(caller, body, headers);
    const counted: readonly (readonly [string, () => Promise<RawAnswer>])[] = [
      ['200 2025-06-18', () => sendMessage(legacyRequest('ping'))],
      ['200 2025-06-18', () => sendMessage(legacyRequest('tools/list'))],
      ['200 2026-07-28', () => callModern(caller, 'list_plans')],
      ['202', () => sendMessage({ jsonrpc: '2.0', method: 'notifications/initialized' })],
      ['202', () => sendMessage({ jsonrpc: '2.0', id: 1, result: {} })],
      [
        '200 -32600 Invalid Request',
        () => sendMessage(`[${JSON.stringify(legacyRequest('ping'))}]`),
      ],
      ['200 -32600 Invalid Request', () => sendMessage(Array(40).fill(legacyRequest('ping')))],
      ['200 -32700 Parse error', () => sendMessage('{')],
      ['200 -32601 Method not found', () => sendMessage(legacyRequest('nothing'))],
      [
        '400 -32022 Unsupported protocol version',
        () => sendMessage(legacyRequest('ping'), 'MCP-Protocol-Version: v9'),
      ],
      [
        '415 The content type must be application/json.',
        () => postRaw(world.service.baseUrl, [bearer(caller.key)], '{}'),
      ],
      [
        '413 The request body is larger than 1048576 bytes.',
        () => sendMessage(' '.repeat(1_048_577)),
      ],
    ];
    for (const [index, [expected, send]] of counted.entries()) {
      const answer = await send();
      assert.equal(inShort(answer), expected);
      assert.equal(answer.headers['ratelimit-policy'], '"default";q=60;w=60');
      assert.equal(left(answer), `"default";r=${59 - index};t=60`, expected);
    }
    const rest = await get(`${world.base}/plans`, caller.key);
    assert.equal(rest.headers.get('ratelimit'), '"default";r=47;t=60');
    assert.equal(left(await sendMessage(legacyRequest('ping'))), '"default";r=46;t=60');
  });

  // Requirements: mcp.limits.429, mcp.auth.envelope.
  test('responds 429 in the envelope with Retry-After over the limit, on both transports', async () => {
    const caller = await keyOf('growth');
    for (let count = 0; count < 30; count += 1) {
      assert.equal((await get(`${world.base}/plans`, caller.key)).status, 200);
      assert.equal(inShort(await post(caller, legacyRequest('ping'))), '200 2025-06-18');
    }
    for (const body of [
      legacyRequest('ping'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      '{',
      '[]',
      ' '.repeat(1_048_577),
    ]) {
      const answer = await post(caller, body);
      assert.equal(answer.status, 429);
      assert.equal(
        answer.body,
        '{"success":false,"message":"Rate limit exceeded. Retry after 60 seconds."}',
      );
      assert.equal(answer.headers['retry-after'], '60');
      assert.equal(answer.headers['cache-control'], 'private, no-store');
    }
    assert.equal((await get(`${world.base}/plans`, caller.key)).status, 429);
    world.clock.advance(60_000);
    assert.equal(inShort(await post(caller, legacyRequest('ping'))), '200 2025-06-18');
  });

  test('does not count requests that are refused before the limit', async () => {
    const caller = await keyOf('growth');
    const { baseUrl } = world.service;
    const withKey = [bearer(caller.key), 'content-type: application/json'];
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      await request(baseUrl, method, '/api/mcp', withKey);
    }
    await postRaw(baseUrl, [...withKey, 'origin: http://evil.example.com'], '{}');
    assert.equal(left(await post(caller, legacyRequest('ping'))), '"default";r=59;t=60');
  });

  test('limits Pro to 300, and sends no RateLimit headers on Enterprise Plus', async () => {
    const pro = await post(await keyOf('pro'), legacyRequest('ping'));
    assert.equal(left(pro), '"default";r=299;t=60');
    const uncapped = await post(await keyOf('enterprise_plus'), legacyRequest('ping'));
    assert.equal(left(uncapped), undefined);
    assert.equal(uncapped.headers['ratelimit-policy'], undefined);
  });
});
