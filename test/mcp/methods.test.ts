import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createTestKey, openAnyStore, startWorld, type World } from '../support/world.ts';
import { callModern, inShort, legacyRequest, modernHeaders, modernRequest, post } from './wire.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };
const serverInfo = {
  name: 'retention-data-service',
  title: 'Retention Data Service',
  version,
};
const everyResultOf2026 = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
};
const unknown2025 = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}';

describe('methods by revision', () => {
  let world: World;
  const send2025 = (method: string, params?: unknown) => post(world, legacyRequest(method, params));
  const send2026 = (method: string, params: object = {}) =>
    post(world, modernRequest(method, params), modernHeaders(method));
  const resultOf = ({ body }: { body: string }) => JSON.parse(body).result;

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.methods.initialize.
  test('2025-06-18: initialize returns that version, whatever was requested', async () => {
    let instructions = '';
    for (const requested of [
      '2025-06-18',
      '2025-11-25',
      '2024-11-05',
      '2026-07-28',
      'v999',
      5,
      null,
    ]) {
      const answer = await send2025('initialize', {
        protocolVersion: requested,
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      });
      const result = resultOf(answer);
      instructions = result.instructions;
      assert.deepEqual(result, {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo,
        instructions,
      });
    }
    assert.match(instructions, /^Read-only data of one shop's subscriptions/);
    assert.equal(resultOf(await send2025('initialize')).protocolVersion, '2025-06-18');
  });

  // Requirements: mcp.methods.ping.
  test('2025-06-18: ping returns an empty object', async () => {
    const { status, body } = await send2025('ping');
    assert.equal(status, 200);
    assert.equal(body, '{"jsonrpc":"2.0","id":1,"result":{}}');
    assert.equal((await send2025('ping', {})).body, body);
  });

  // Requirements: mcp.methods.initialized.
  test('2025-06-18: notifications/initialized is accepted', async () => {
    const answer = await post(world, { jsonrpc: '2.0', method: 'notifications/initialized' });
    assert.equal(inShort(answer), '202');
  });

  // Requirements: mcp.methods.initialize-2026, mcp.methods.ping-2026, mcp.errors.initialize-ping.
  test('2026-07-28: initialize and ping do not exist', async () => {
    for (const method of ['initialize', 'ping']) {
      const { status, body } = await send2026(method);
      assert.equal(status, 404);
      assert.equal(body, unknown2025);
    }
  });

  // Requirements: mcp.methods.discover, mcp.methods.discover-versions.
  test('supports server/discover in both, newest version first', async () => {
    const old = resultOf(await send2025('server/discover'));
    assert.deepEqual(old, {
      supportedVersions: ['2026-07-28', '2025-06-18'],
      capabilities: { tools: {} },
      instructions: old.instructions,
      ttlMs: 3_600_000,
      cacheScope: 'public',
    });
    assert.match(old.instructions, /^Read-only data of one shop's subscriptions/);
    assert.deepEqual(resultOf(await send2026('server/discover')), { ...everyResultOf2026, ...old });
  });

  // Requirements: mcp.methods.tools-list, mcp.framing.results, mcp.framing.cache-hints.
  test('supports tools/list in both, with cache hints in 2026-07-28', async () => {
    const old = resultOf(await send2025('tools/list'));
    assert.deepEqual(Object.keys(old), ['tools']);
    assert.equal(old.tools.length, 6);
    assert.deepEqual(resultOf(await send2026('tools/list')), {
      ...everyResultOf2026,
      tools: old.tools,
      ttlMs: 300_000,
      cacheScope: 'private',
    });
  });

  test('refuses any cursor for tools/list except null', async () => {
    for (const cursor of ['', 'abc', 0, 5, false, [], {}]) {
      const refused =
        '200 -32602 Invalid params: cursor is not valid; there is only one page of tools.';
      assert.equal(inShort(await send2026('tools/list', { cursor })), refused);
      assert.equal(inShort(await send2025('tools/list', { cursor })), refused);
    }
    assert.equal(inShort(await send2026('tools/list', { cursor: null })), '200 2026-07-28');
    assert.equal(inShort(await send2025('tools/list', { cursor: null })), '200 2025-06-18');
  });

  // Requirements: mcp.methods.tools-call.
  test('supports tools/call in both, with the same payload', async () => {
    const expected = {
      content: [{ type: 'text', text: '{"plans":[]}' }],
      structuredContent: { plans: [] },
    };
    const old = await send2025('tools/call', { name: 'list_plans', arguments: {} });
    assert.deepEqual(resultOf(old), expected);
    const result = resultOf(await callModern(world, 'list_plans'));
    assert.deepEqual(result, { ...everyResultOf2026, ...expected });
  });

  // Requirements: mcp.framing.results.
  test('sends all result members with an error result of 2026-07-28', async () => {
    const expected = {
      content: [{ type: 'text', text: 'Subscription not found.' }],
      isError: true,
    };
    const input = { subscriptionId: 1 };
    const old = await send2025('tools/call', { name: 'get_subscription', arguments: input });
    assert.deepEqual(resultOf(old), expected);
    const result = resultOf(await callModern(world, 'get_subscription', input));
    assert.deepEqual(result, { ...everyResultOf2026, ...expected });
  });

  // Requirements: mcp.errors.2025-at-200.
  test('reports any other method as unknown: 404 in 2026-07-28, 200 in 2025-06-18', async () => {
    for (const method of [
      'subscriptions/listen',
      'resources/list',
      'resources/read',
      'resources/templates/list',
      'prompts/list',
      'prompts/get',
      'logging/setLevel',
      'completion/complete',
      'tools/List',
      'tools/list/',
      'tools',
      '__proto__',
      'constructor',
      'toString',
      'get',
      'rpc.discover',
      'notifications/initialized',
    ]) {
      const old = await send2025(method);
      assert.equal(old.status, 200, method);
      assert.equal(old.body, unknown2025);
      const { status, body } = await send2026(method);
      assert.equal(status, 404, method);
      assert.equal(body, unknown2025);
    }
    assert.equal(inShort(await send2025('')), '200 -32601 Method not found');
    const empty = await post(world, modernRequest(''), modernHeaders(''));
    assert.equal(inShort(empty), '404 -32601 Method not found');
  });

  // Requirements: mcp.framing.permission, mcp.tools.permitted.
  test('checks the key of every call, whatever was listed before', async () => {
    const { key } = await createTestKey(world.store, world.shop.id, ['read:plans']);
    const other = { ...world, key };
    assert.equal(inShort(await callModern(world, 'get_metrics_summary')), '200 2026-07-28');
    assert.equal(
      inShort(await callModern(other, 'get_metrics_summary')),
      '200 -32602 Unknown tool: get_metrics_summary',
    );
  });
});
