import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { plan, session, subscription } from '../rest/records.ts';
import { runs } from '../support/seed.ts';
import { importAll, openAnyStore, startWorld, type World } from '../support/world.ts';
import { inShort, legacyRequest, modernHeaders, modernMeta, post } from './wire.ts';

const versions = ['2026-07-28', '2025-06-18', '2025-11-25', 'v999', ''];
const methods = ['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'x', ''];
const names = [
  'get_entitlements',
  'list_subscriptions',
  'get_subscription',
  'get_metrics_summary',
  'list_plans',
  'list_cancellations',
  '__proto__',
];

/** Any bytes that are valid in a header. */
const headerValue = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
});
const readable = headerValue.filter((text) => !text.includes('\x7f'));
const sentinel = fc.oneof(
  fc.base64String().map((text) => `=?base64?${text}?=`),
  readable.map((text) => `=?base64?${text}?=`),
);
const headers = fc.array(
  fc.oneof(
    fc.constantFrom(...versions).map((value) => `MCP-Protocol-Version: ${value}`),
    fc.constantFrom(...methods).map((value) => `Mcp-Method: ${value}`),
    fc.oneof(fc.constantFrom(...names), sentinel).map((value) => `Mcp-Name: ${value}`),
    fc
      .tuple(
        fc.constantFrom(
          'MCP-Protocol-Version',
          'Mcp-Method',
          'Mcp-Name',
          'Mcp-Param-Limit',
          'Mcp-Session-Id',
          'Last-Event-ID',
          'Accept',
          'Origin',
          'Content-Type',
          'X-Request-Id',
        ),
        readable,
      )
      .map(([name, value]) => `${name}: ${value}`),
  ),
  { maxLength: 5 },
);

const json = fc.jsonValue({ maxDepth: 3 });
const meta = fc.oneof(
  json,
  fc.constant(modernMeta),
  fc.record(
    {
      'io.modelcontextprotocol/protocolVersion': fc.oneof(fc.constantFrom(...versions), json),
      'io.modelcontextprotocol/clientCapabilities': fc.oneof(fc.constant({}), json),
      progressToken: json,
    },
    { requiredKeys: [] },
  ),
);
const input = fc.oneof(
  json,
  fc.dictionary(
    fc.constantFrom('customerId', 'subscriptionId', 'limit', 'cursor', 'status', 'outcome', 'x'),
    fc.oneof(json, fc.integer(), fc.double(), fc.constantFrom('active', 'saved', '', 501, 1001)),
  ),
);
/** An almost valid message, to get as far as possible. */
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, json),
    id: fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>(1, 'a') }, json),
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>(...methods) }, json),
    params: fc.oneof(
      json,
      fc.record(
        { name: fc.oneof(fc.constantFrom<unknown>(...names), json), arguments: input, _meta: meta },
        { requiredKeys: [] },
      ),
    ),
    result: json,
    error: json,
  },
  { requiredKeys: [] },
);

describe('fuzzed MCP requests', () => {
  let world: World;
  // `post` checks that every response is an envelope, JSON-RPC or empty.
  const assertValid = async (body: object | string | Uint8Array, lines: readonly string[]) => {
    const { status, body: text } = await post(world, body, lines);
    assert.ok(status < 500, `${status}: ${text}`);
  };

  before(async () => {
    world = await startWorld(openAnyStore());
    await importAll(world.store, world.shop, [
      plan(),
      ...[1, 2, 3].map((id) => subscription(id)),
      ...[1, 2, 3].map((id) => session(id)),
    ]);
  });
  after(async () => {
    const answer = await post(world, legacyRequest('ping'));
    assert.equal(inShort(answer), '200 2025-06-18', 'it answers as before');
    await world.close();
  });

  test('get a valid response to any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), headers, assertValid),
      runs(400),
    );
  });

  test('get a valid response to any JSON', async () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 6 }),
      json.map((value) => JSON.stringify(value)),
    );
    await fc.assert(fc.asyncProperty(text, headers, assertValid), runs(400));
  });

  test('get a valid response to almost valid messages with any headers', async () => {
    const body = message.map((value) => JSON.stringify(value));
    await fc.assert(fc.asyncProperty(body, headers, assertValid), runs(400));
  });

  test('get a result or an error for a tool call with any arguments', async () => {
    const tool = fc.constantFrom(...names);
    await fc.assert(
      fc.asyncProperty(tool, input, async (name, args) => {
        const params = { name, arguments: args, _meta: modernMeta };
        const answer = await post(
          world,
          { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
          modernHeaders('tools/call', name),
        );
        assert.match(inShort(answer), /^200 (2026-07-28|-32602 )/);
      }),
      runs(400),
    );
  });
});
