import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { plan, session, subscription } from '../rest/records.ts';
import {
  createShop,
  createTestKey,
  importAll,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import { callModern, inShort, legacyRequest, modernHeaders, modernRequest, post } from './wire.ts';
import { type Scope, scopes as allScopes } from '../../src/vocabulary.ts';

const limitError = 'limit must be an integer from 1 to 100.';
const cursorError =
  'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.';
const statusError = 'status must be one of active, paused, cancelled, expired, failed.';
const outcomeError = 'outcome must be one of saved, cancelled, abandoned.';
const notFound = 'Subscription not found.';

describe('tool calls', () => {
  let world: World;
  /** The result, checked to be the same in both revisions. */
  const resultOf = async (name: string, args: unknown) => {
    const params = { name, arguments: args };
    const old = await post(world, legacyRequest('tools/call', params));
    const {
      resultType: _,
      _meta: __,
      ...modern
    } = JSON.parse(
      (await post(world, modernRequest('tools/call', params), modernHeaders('tools/call', name)))
        .body,
    ).result;
    const { result } = JSON.parse(old.body);
    assert.deepEqual(modern, result);
    return result;
  };
  const assertRefused = async (name: string, args: unknown, message: string) => {
    const expected = { content: [{ type: 'text', text: message }], isError: true };
    assert.deepEqual(await resultOf(name, args), expected, JSON.stringify(args));
  };

  before(async () => {
    world = await startWorld(openAnyStore());
    const records = [plan(), subscription(1001), subscription(1002), session(1), session(2)];
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
  });
  after(() => world.close());

  // Requirements: mcp.tools.get_entitlements.
  test('returns the same as GET /entitlements, and accepts only customerId', async () => {
    const { structuredContent } = await resultOf('get_entitlements', { customerId: 501 });
    assert.deepEqual(
      structuredContent.subscriptions.map((each: object) => Object.values(each)),
      [
        [1001, 11, 'Monthly box', 'subscription', 'active', true, null],
        [1002, 11, 'Monthly box', 'subscription', 'active', true, null],
      ],
    );
    for (const unknownId of [1, 502, 2 ** 53, 1e300]) {
      const result = await resultOf('get_entitlements', { customerId: unknownId });
      assert.deepEqual(result.structuredContent, { subscriptions: [] });
    }
    // In double precision it is Infinity.
    const huge = legacyRequest('tools/call', {
      name: 'get_entitlements',
      arguments: { customerId: 'HUGE' },
    });
    const { body } = await post(world, JSON.stringify(huge).replace('"HUGE"', '9'.repeat(400)));
    assert.deepEqual(JSON.parse(body).result.structuredContent, { subscriptions: [] });
    const message = 'customerId must be a positive integer.';
    for (const customerId of [undefined, null, 0, -1, 1.5, '501', '', true, [501], {}]) {
      await assertRefused('get_entitlements', { customerId }, message);
    }
    await assertRefused('get_entitlements', undefined, message);
    // As a double it is an integer.
    const fraction = JSON.stringify(huge).replace('"HUGE"', '101.00000000000000000001');
    assert.deepEqual(JSON.parse((await post(world, fraction)).body).result, {
      content: [{ type: 'text', text: message }],
      isError: true,
    });
    const known = 'Known are customerId.';
    await assertRefused(
      'get_entitlements',
      { customerId: 501, limit: 5 },
      `Unknown argument: limit. ${known}`,
    );
    await assertRefused(
      'get_entitlements',
      { customerid: 501 },
      `${message} Unknown argument: customerid. ${known}`,
    );
  });

  // Requirements: mcp.tools.list_subscriptions, mcp.tools.arguments, mcp.limits.page-size,
  // mcp.limits.next-cursor.
  test('returns the same as GET /subscriptions, in pages', async () => {
    const first = (await resultOf('list_subscriptions', { limit: 1 })).structuredContent;
    assert.equal(first.subscriptions[0].subscriptionId, 1002);
    assert.match(first.nextCursor, /^[\w-]+$/);
    const input = { limit: 1, cursor: first.nextCursor };
    const second = (await resultOf('list_subscriptions', input)).structuredContent;
    assert.equal(second.subscriptions[0].subscriptionId, 1001);
    assert.equal(second.nextCursor, null);
    const paused = await resultOf('list_subscriptions', { status: 'paused' });
    assert.deepEqual(paused.structuredContent, { subscriptions: [], nextCursor: null });
    const all = (await resultOf('list_subscriptions', { limit: 100 })).structuredContent;
    assert.equal(all.subscriptions.length, 2);
    assert.deepEqual((await resultOf('list_subscriptions', {})).structuredContent, all);
  });

  // Requirements: mcp.errors.bad-limit, mcp.errors.bad-status, mcp.limits.invalid.
  test('returns an error result with plain text for invalid arguments', async () => {
    for (const limit of [0, -1, 101, 1.5, 1e300, '5', '', true, [5], {}]) {
      await assertRefused('list_subscriptions', { limit }, limitError);
      await assertRefused('list_cancellations', { limit }, limitError);
    }
    for (const cursor of ['', 'abc', 'A'.repeat(30), 5, ['x'], {}]) {
      await assertRefused('list_subscriptions', { cursor }, cursorError);
      await assertRefused('list_cancellations', { cursor }, cursorError);
    }
    for (const status of ['unknown', '', 'Active', 5, ['active']]) {
      await assertRefused('list_subscriptions', { status }, statusError);
    }
    for (const outcome of ['open', '', 5]) {
      await assertRefused('list_cancellations', { outcome }, outcomeError);
    }
    const bad = { limit: 0, cursor: 1, status: 'x' };
    await assertRefused('list_subscriptions', bad, `${limitError} ${cursorError} ${statusError}`);
    await assertRefused(
      'list_subscriptions',
      { outcome: 'saved', x: 1 },
      'Unknown argument: outcome, x. Known are limit, cursor, status.',
    );
    const { nextCursor } = (await resultOf('list_subscriptions', { limit: 1 })).structuredContent;
    await assertRefused('list_cancellations', { cursor: nextCursor }, cursorError);
    const filtered = { cursor: nextCursor, status: 'active' };
    await assertRefused('list_subscriptions', filtered, cursorError);
  });

  // Requirements: mcp.tools.get_subscription, mcp.errors.foreign-id.
  test('returns the same as GET /subscriptions/{id}, or an error result for a foreign id', async () => {
    const { structuredContent } = await resultOf('get_subscription', { subscriptionId: 1001 });
    assert.equal(structuredContent.subscription.subscriptionId, 1001);
    assert.equal(structuredContent.subscription.lineItems.length, 1);
    const other = await createShop(world.store);
    await importAll(world.store, other, [plan(), subscription(2001)]);
    for (const subscriptionId of [1, 2001, 2 ** 53, 1e300]) {
      await assertRefused('get_subscription', { subscriptionId }, notFound);
    }
    for (const subscriptionId of [undefined, 0, -1, '1001', null, 1.5]) {
      await assertRefused(
        'get_subscription',
        { subscriptionId },
        'subscriptionId must be a positive integer.',
      );
    }
  });

  // Requirements: mcp.tools.get_metrics_summary, mcp.tools.list_plans,
  // mcp.tools.list_cancellations.
  test('return the same as their endpoints, the first two without arguments', async () => {
    const { structuredContent } = await resultOf('get_metrics_summary', {});
    assert.equal(structuredContent.summary.activeSubscribers, 1);
    assert.equal(structuredContent.summary.generatedAt, '2026-11-20T12:00:00.000Z');
    assert.equal(structuredContent.summary.currency, 'USD');
    const { plans } = (await resultOf('list_plans', undefined)).structuredContent;
    assert.deepEqual([plans.length, plans[0].id, plans[0].name], [1, 11, 'Monthly box']);
    for (const name of ['get_metrics_summary', 'list_plans']) {
      await assertRefused(name, { limit: 1 }, 'Unknown argument: limit. There are no arguments.');
    }
    const sessions = (await resultOf('list_cancellations', { limit: 1 })).structuredContent;
    assert.deepEqual(Object.values(sessions.cancellations[0]), [
      2,
      'too_expensive',
      null,
      null,
      '2026-11-01T00:00:00.000Z',
    ]);
    assert.equal(typeof sessions.nextCursor, 'string');
  });

  test('treats null for an optional argument as missing', async () => {
    for (const [name, nulls] of [
      ['list_subscriptions', { limit: null, cursor: null, status: null }],
      ['list_cancellations', { limit: null, cursor: null, outcome: null }],
    ] as const) {
      const without = await resultOf(name, {});
      assert.equal(without.isError, undefined);
      assert.deepEqual(await resultOf(name, nulls), without);
      const one = await resultOf(name, { limit: 1 });
      assert.deepEqual(await resultOf(name, { ...nulls, limit: 1 }), one);
    }
    for (const [name, args, message] of [
      ['get_entitlements', { customerId: null }, 'customerId must be a positive integer.'],
      ['get_subscription', { subscriptionId: null }, 'subscriptionId must be a positive integer.'],
      ['list_plans', { limit: null }, 'Unknown argument: limit. There are no arguments.'],
      [
        'list_subscriptions',
        { outcome: null },
        'Unknown argument: outcome. Known are limit, cursor, status.',
      ],
    ] as const) {
      await assertRefused(name, args, message);
    }
    const inherited = JSON.parse('{"__proto__":null}');
    await assertRefused(
      'list_plans',
      inherited,
      'Unknown argument: __proto__. There are no arguments.',
    );
  });

  // Requirements: mcp.tools.call, mcp.tools.payload-twice.
  test('returns the payload as text and as an object', async () => {
    const result = await resultOf('list_plans', {});
    assert.deepEqual(Object.keys(result), ['content', 'structuredContent']);
    assert.equal(result.content.length, 1);
    assert.deepEqual(Object.keys(result.content[0]), ['type', 'text']);
    assert.equal(result.content[0].type, 'text');
    assert.equal(result.content[0].text, JSON.stringify(result.structuredContent));
  });

  test('refuses a name that is not a string and arguments that are not an object as invalid params', async () => {
    const old = async (params: unknown) =>
      inShort(await post(world, legacyRequest('tools/call', params)));
    for (const name of [undefined, null, 5, true, ['list_plans'], {}]) {
      assert.equal(await old({ name }), '200 -32602 Invalid params: name must be a string.');
    }
    for (const args of [null, 5, 'x', true, [], [{}]]) {
      const expected = '200 -32602 Invalid params: arguments must be an object.';
      assert.equal(await old({ name: 'list_plans', arguments: args }), expected);
      assert.equal(inShort(await callModern(world, 'list_plans', args as object)), expected);
      assert.equal(await old({ name: 'nothing', arguments: args }), expected);
    }
  });

  // Requirements: mcp.tools.indistinguishable, mcp.errors.unknown-tool.
  test('responds to a tool without permission exactly as to an unknown one', async () => {
    const send = async (key: string, name: string, args: object) => {
      const caller = { ...world, key };
      const params = { name, arguments: args };
      const old = await post(caller, legacyRequest('tools/call', params));
      const modern = await callModern(caller, name, args);
      assert.equal(modern.body, old.body);
      return [old, modern].map(({ status, headers, body }) => {
        const { date: _, 'x-request-id': __, 'content-length': ___, ...rest } = headers;
        return { status, headers: rest, body };
      });
    };
    const unknown = (name: string) =>
      `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: ${name}"}}`;
    const toolsOf: Readonly<Record<Scope, readonly string[]>> = {
      'read:entitlements': ['get_entitlements'],
      'read:subscriptions': ['list_subscriptions', 'get_subscription'],
      'read:metrics': ['get_metrics_summary', 'list_cancellations'],
      'read:plans': ['list_plans'],
    };
    const { key: without } = await createTestKey(world.store, world.shop.id, []);
    for (const [scope, tools] of Object.entries(toolsOf)) {
      const others = allScopes.filter((each) => each !== scope);
      const { key } = await createTestKey(world.store, world.shop.id, others);
      for (const tool of tools) {
        for (const args of [{}, { customerId: 501 }, { subscriptionId: 1001 }, { nonsense: 1 }]) {
          const invented = tool.replace('_', '-');
          const [old, modern] = await send(key, invented, args);
          assert.equal(old?.status, 200);
          assert.equal(old?.body, unknown(invented));
          const expected = [old, modern].map((each) => ({ ...each, body: unknown(tool) }));
          assert.deepEqual(await send(key, tool, args), expected);
          assert.deepEqual(await send(without, tool, args), expected);
        }
      }
    }
    const odd = ['', ' list_plans', 'LIST_PLANS', '__proto__', 'constructor', 'toString', 'get'];
    for (const name of odd) {
      const { body } = await post(world, legacyRequest('tools/call', { name }));
      assert.equal(body, unknown(name));
    }
  });
});
