import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { inShort, modernHeaders, post } from './wire.ts';

const version = 'io.modelcontextprotocol/protocolVersion';
const capabilities = 'io.modelcontextprotocol/clientCapabilities';
const header = (value: string) => `MCP-Protocol-Version: ${value}`;
const mirrored = modernHeaders('tools/list');

const served2025 = '200 2025-06-18';
const served2026 = '200 2026-07-28';
const noVersion =
  '400 -32602 Invalid params: _meta must hold io.modelcontextprotocol/protocolVersion, a string.';
const noCapabilities =
  '400 -32602 Invalid params: _meta must hold io.modelcontextprotocol/clientCapabilities, an object.';
const unsupported = '400 -32022 Unsupported protocol version';
const versionMismatch = (declared: string) =>
  `400 -32020 Header mismatch: MCP-Protocol-Version must be ${declared}, as _meta says.`;

/** Headers, _meta (undefined for none) and the expected response. */
type Cell = readonly [headers: readonly string[], meta: unknown, expected: string];

describe('which revision serves a request', () => {
  let world: World;
  const assertCells = async (cells: readonly Cell[], method = 'tools/list') => {
    for (const [headers, _meta, expected] of cells) {
      const params = _meta === undefined ? {} : { _meta };
      const answer = await post(world, { jsonrpc: '2.0', id: 1, method, params }, headers);
      assert.equal(inShort(answer), expected, JSON.stringify({ method, headers, _meta }));
      assert.equal(JSON.parse(answer.body).id, 1);
    }
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.revision.undeclared.
  test('serves 2025-06-18 if neither _meta nor header declare a version', async () => {
    await assertCells([
      [[], undefined, served2025],
      [[], {}, served2025],
      [[header('')], undefined, served2025],
      [[header('  ')], {}, served2025],
    ]);
    const noParams = await post(world, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    assert.equal(inShort(noParams), served2025);
  });

  // Requirements: mcp.revision.explicit.
  test('serves 2025-06-18 if the header, _meta or both request it', async () => {
    await assertCells([
      [[header('2025-06-18')], undefined, served2025],
      [[header('2025-06-18')], {}, served2025],
      [[], { [version]: '2025-06-18' }, served2025],
      [[header('2025-06-18')], { [version]: '2025-06-18' }, served2025],
      [[header('2025-06-18')], { [version]: '2025-06-18', [capabilities]: {} }, served2025],
      [[], { [version]: '2025-06-18', [capabilities]: {} }, served2025],
      [[header('2025-06-18')], { [capabilities]: {} }, served2025],
      // A header with another version does not override it.
      [[header('v999')], { [version]: '2025-06-18' }, served2025],
      // Some bridges send Mcp-Method in this revision too.
      [[header('2025-06-18'), 'Mcp-Method: prompts/list', 'Mcp-Name: x'], {}, served2025],
    ]);
  });

  // Requirements: mcp.versions.side-by-side, mcp.framing.meta-missing, mcp.errors.meta.
  test('requires the full framing for any sign of 2026-07-28', async () => {
    const both = { [version]: '2026-07-28', [capabilities]: {} };
    await assertCells([
      [mirrored, both, served2026],
      [mirrored, { ...both, [capabilities]: { sampling: {}, x: 1 } }, served2026],
      [mirrored, undefined, noVersion],
      [mirrored, {}, noVersion],
      [mirrored, { [capabilities]: {} }, noVersion],
      [mirrored, { [version]: '2026-07-28' }, noCapabilities],
      [[], { [version]: '2026-07-28' }, noCapabilities],
      [[], { [capabilities]: {} }, noVersion],
      [[], both, versionMismatch('2026-07-28')],
      [[header('2025-06-18')], both, versionMismatch('2026-07-28')],
      [[header('2025-11-25')], both, versionMismatch('2026-07-28')],
      [
        [header('2026-07-28')],
        both,
        '400 -32020 Header mismatch: Mcp-Method must be the method of the body.',
      ],
      [mirrored, { [version]: '2025-06-18' }, noCapabilities],
      [mirrored, { [version]: '2025-06-18', [capabilities]: {} }, versionMismatch('2025-06-18')],
    ]);
  });

  // Requirements: mcp.framing.meta.
  test('treats a _meta key of the wrong type as missing', async () => {
    for (const wrong of [null, 20260728, true, ['2026-07-28'], { version: '2026-07-28' }]) {
      await assertCells([
        [mirrored, { [version]: wrong, [capabilities]: {} }, noVersion],
        [[], { [version]: wrong }, noVersion],
        [[header('v999')], { [version]: wrong }, noVersion],
      ]);
    }
    for (const wrong of [null, 1, true, 'sampling', [], [{}]]) {
      await assertCells([
        [mirrored, { [version]: '2026-07-28', [capabilities]: wrong }, noCapabilities],
      ]);
    }
    for (const wrong of [null, 1, 'x', [], [version]]) {
      await assertCells([
        [mirrored, wrong, noVersion],
        [[], wrong, served2025],
      ]);
    }
  });

  // Requirements: mcp.revision.explicit.
  test('keeps 2025-06-18 from the header if _meta has no valid version', async () => {
    for (const wrong of [null, 20260728, true, ['2026-07-28'], { version: '2026-07-28' }]) {
      await assertCells([
        [[header('2025-06-18')], { [version]: wrong }, served2025],
        [[header('2025-06-18')], { [version]: wrong, [capabilities]: {} }, served2025],
        [[header('2025-06-18')], { [version]: wrong, [capabilities]: null }, served2025],
      ]);
      const notFound: Cell = [
        [header('2025-06-18')],
        { [version]: wrong, [capabilities]: {} },
        '200 -32601 Method not found',
      ];
      await assertCells([notFound], 'prompts/list');
    }
  });

  // Requirements: mcp.framing.unsupported, mcp.errors.version.
  test('responds -32022 with the supported versions to any other', async () => {
    for (const other of ['2025-11-25', '2025-03-26', '2024-11-05', '2027-01-01', 'v999', 'draft']) {
      const both = { [version]: other, [capabilities]: {} };
      await assertCells([
        [[header(other)], undefined, unsupported],
        [[header(other)], {}, unsupported],
        [[header(other), 'Mcp-Method: tools/list'], both, unsupported],
        // In the header alone, because capabilities do not declare a version.
        [[header(other)], { [capabilities]: {} }, unsupported],
        [
          [header(other)],
          both,
          '400 -32020 Header mismatch: Mcp-Method must be the method of the body.',
        ],
        [mirrored, both, versionMismatch(other)],
        [[], both, versionMismatch(other)],
        [[], { [version]: other }, noCapabilities],
      ]);
    }
    const { body } = await post(
      world,
      { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'list_plans' } },
      [header('v999')],
    );
    assert.equal(
      body,
      '{"jsonrpc":"2.0","id":"a","error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-06-18"],"requested":"v999"}}}',
    );
  });

  test('compares values exactly, and joins repeated headers', async () => {
    await assertCells([
      [[header('2025-06-18 2026-07-28')], {}, unsupported],
      [[header('2025-06-18'), header('2025-06-18')], {}, unsupported],
      [[header('2026-07-28'), header('2026-07-28')], {}, unsupported],
      [[header('V999')], {}, unsupported],
      [[header('\u00a02026-07-28')], {}, unsupported],
      [['mcp-protocol-version:2025-06-18'], {}, served2025],
      [['MCP-PROTOCOL-VERSION: \t 2025-06-18 \t '], {}, served2025],
    ]);
  });

  test('serves initialize with a later handshake version in the header as 2025-06-18', async () => {
    await assertCells(
      [
        [[header('2025-11-25')], undefined, served2025],
        [[header('2025-11-25')], { progressToken: 1 }, served2025],
        [[], undefined, served2025],
        [[header('2025-03-26')], undefined, unsupported],
        [[header('v999')], undefined, unsupported],
        [[header('2025-11-25')], { [version]: '2025-11-25' }, noCapabilities],
        [[header('2025-11-25')], { [capabilities]: {} }, unsupported],
      ],
      'initialize',
    );
    await assertCells([[[header('2025-11-25')], undefined, unsupported]], 'ping');
    await assertCells([[[header('2025-11-25')], undefined, unsupported]], 'server/discover');
  });

  test('ignores other _meta keys', async () => {
    for (const other of [
      { progressToken: 7 },
      { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      { 'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' } },
      { 'io.modelcontextprotocol/logLevel': 'debug', tracestate: 'a=b', baggage: 'c=d' },
      { 'com.example/anything': [] },
      JSON.parse(`{"__proto__":{"${version}":"2026-07-28","${capabilities}":{}}}`),
      { constructor: { [version]: '2026-07-28' } },
    ]) {
      await assertCells([
        [[], other, served2025],
        [mirrored, { ...other, [version]: '2026-07-28', [capabilities]: {} }, served2026],
      ]);
    }
  });
});
