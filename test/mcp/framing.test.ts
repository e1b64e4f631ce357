import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { inShort, modernHeaders, modernRequest, post } from './wire.ts';

const versionHeader = 'MCP-Protocol-Version: 2026-07-28';
const badMethod = '400 -32020 Header mismatch: Mcp-Method must be the method of the body.';
const badName = '400 -32020 Header mismatch: Mcp-Name must be the name of the tool in the body.';
const base64 = (text: string | Uint8Array) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('framing of 2026-07-28', () => {
  let world: World;
  const list = async (...headers: string[]) =>
    inShort(await post(world, modernRequest('tools/list'), [versionHeader, ...headers]));
  /** @param headers in addition to the two correct ones */
  const call = async (name: unknown, ...headers: string[]) => {
    const message = modernRequest('tools/call', { name, arguments: {} });
    return inShort(await post(world, message, [...modernHeaders('tools/call'), ...headers]));
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.framing.headers, mcp.framing.mismatch, mcp.errors.header.
  test('requires Mcp-Method, equal to the method', async () => {
    assert.equal(await list('Mcp-Method: tools/list'), '200 2026-07-28');
    for (const headers of [
      [],
      ['Mcp-Method:'],
      ['Mcp-Method: prompts/list'],
      ['Mcp-Method: TOOLS/LIST'],
      ['Mcp-Method: tools/list/'],
      ['Mcp-Method: "tools/list"'],
      ['Mcp-Method: tools/list', 'Mcp-Method: tools/list'],
      ['Mcp-Method: tools/list', 'Mcp-Method: tools/call'],
      ['Mcp-Method: tools/list,tools/list'],
      [`Mcp-Method: ${base64('tools/list')}`],
      ['Mcp-Method: \u00a0tools/list'],
      ['Mcp-Methods: tools/list'],
      ['Mcp_Method: tools/list'],
    ]) {
      assert.equal(await list(...headers), badMethod, headers.join('; '));
    }
  });

  test('ignores the case of header names and white space around values', async () => {
    for (const headers of [
      ['mcp-method: tools/list'],
      ['MCP-METHOD: tools/list'],
      ['mCp-mEtHoD:tools/list'],
      ['Mcp-Method:   tools/list  '],
      ['Mcp-Method:\ttools/list\t'],
    ]) {
      assert.equal(await list(...headers), '200 2026-07-28', headers.join('; '));
    }
    assert.equal(await call('list_plans', 'MCP-NAME: \t list_plans \t'), '200 2026-07-28');
    assert.equal(await call('list_plans', 'mcp-name:list_plans'), '200 2026-07-28');
  });

  // Requirements: mcp.framing.name.
  test('requires Mcp-Name on tools/call, equal to the name', async () => {
    assert.equal(await call('list_plans', 'Mcp-Name: list_plans'), '200 2026-07-28');
    for (const headers of [
      [],
      ['Mcp-Name:'],
      ['Mcp-Name: get_plans'],
      ['Mcp-Name: LIST_PLANS'],
      ['Mcp-Name: list_plans', 'Mcp-Name: list_plans'],
      ['Mcp-Name: "list_plans"'],
      ['Mcp-Name: list_plans\u00a0'],
    ]) {
      assert.equal(await call('list_plans', ...headers), badName, headers.join('; '));
    }
    const nameless = { arguments: {} };
    for (const headers of [[], ['Mcp-Name: list_plans'], ['Mcp-Name: undefined'], ['Mcp-Name:']]) {
      const message = modernRequest('tools/call', nameless);
      const answer = await post(world, message, [...modernHeaders('tools/call'), ...headers]);
      assert.equal(inShort(answer), badName, headers.join('; '));
    }
    // No header can equal a name that is not a string.
    for (const name of [null, 5, true, ['list_plans'], {}]) {
      assert.equal(await call(name, `Mcp-Name: ${String(name)}`), badName);
    }
  });

  test('requires Mcp-Name on tools/call only, and no Mcp-Param headers', async () => {
    assert.equal(await list('Mcp-Method: tools/list', 'Mcp-Name: anything'), '200 2026-07-28');
    assert.equal(await list('Mcp-Method: tools/list', 'Mcp-Name: =?base64?%?='), '200 2026-07-28');
    const discover = await post(world, modernRequest('server/discover'), [
      ...modernHeaders('server/discover'),
    ]);
    assert.equal(inShort(discover), '200 2026-07-28');
    const params = ['Mcp-Param-Limit: 5', 'Mcp-Param-X: =?base64?%?='];
    assert.equal(await call('list_plans', 'Mcp-Name: list_plans', ...params), '200 2026-07-28');
  });

  test('decodes an Mcp-Name in base64 before comparing it', async () => {
    assert.equal(base64('list_plans'), '=?base64?bGlzdF9wbGFucw==?=');
    assert.equal(await call('list_plans', `Mcp-Name: ${base64('list_plans')}`), '200 2026-07-28');
    assert.equal(await call('list_plans', `Mcp-Name: ${base64('list_plan')}`), badName);
    for (const name of [
      'Hello, 世界',
      ' padded ',
      'line1\nline2',
      '=?base64?literal?=',
      'a b',
      '\ufefflist_plans',
      '',
      '👩‍🚀',
    ]) {
      const unknown = `200 -32602 Unknown tool: ${name}`;
      assert.equal(await call(name, `Mcp-Name: ${base64(name)}`), unknown, name);
    }
    assert.equal(await call('a b', 'Mcp-Name: a b'), '200 -32602 Unknown tool: a b');
  });

  test('takes a malformed base64 name literally, or refuses it', async () => {
    const literal = [
      '=?base64?bGlzdF9wbGFucw==',
      'bGlzdF9wbGFucw==',
      '=?BASE64?bGlzdA==?=',
      '=?base64?=',
    ];
    for (const name of literal) {
      assert.equal(await call(name, `Mcp-Name: ${name}`), `200 -32602 Unknown tool: ${name}`);
      assert.equal(await call('list_plans', `Mcp-Name: ${name}`), badName, name);
    }
    for (const broken of [
      // Missing, double and misplaced padding; another alphabet; stray bits; a gap.
      '=?base64?bGlzdF9wbGFucw?=',
      '=?base64?bGlzdF9wbGFucw=?=',
      '=?base64?bGlzdF9wbGFucw===?=',
      '=?base64?=bGlzdF9wbGFucw=?=',
      '=?base64?bGlzdF9wbGFucx==?=',
      '=?base64?bGlzdF9 wbGFucw==?=',
      '=?base64?bGlzd*F9wbGFucw==?=',
      '=?base64?%%%%?=',
      '=?base64?b?=',
    ]) {
      assert.equal(await call('list_plans', `Mcp-Name: ${broken}`), badName, broken);
      assert.equal(await call(broken, `Mcp-Name: ${broken}`), badName, broken);
    }
  });

  test('matches no name with invalid UTF-8, in base64 or plain', async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x6c, 0xe9]]) {
      const name = Buffer.from(bytes).toString('utf8');
      assert.equal(await call(name, `Mcp-Name: ${base64(Buffer.from(bytes))}`), badName);
    }
    assert.equal(await call('\ud800', `Mcp-Name: ${base64('\ud800')}`), badName);
    // Headers are ASCII, so é must be encoded, in whatever charset its bytes are.
    assert.equal(await call('é', 'Mcp-Name: é'), badName);
    assert.equal(await call('é', 'Mcp-Name: Ã©'), badName);
    assert.equal(await call('é', `Mcp-Name: ${base64('é')}`), '200 -32602 Unknown tool: é');
  });

  test('checks in order: _meta, version header, method, version, name, then the request itself', async () => {
    const version = 'io.modelcontextprotocol/protocolVersion';
    const capabilities = 'io.modelcontextprotocol/clientCapabilities';
    const send = async (headers: string[], _meta: object, method = 'tools/call') =>
      inShort(await post(world, { jsonrpc: '2.0', id: 1, method, params: { _meta } }, headers));
    const wrong = ['MCP-Protocol-Version: v999', 'Mcp-Method: x', 'Mcp-Name: x'];
    const known = { [version]: '2026-07-28', [capabilities]: {} };
    const misnamed = modernHeaders('x', 'x');
    assert.match(await send(misnamed, { [capabilities]: {} }), /^400 -32602 .*protocolVersion/);
    assert.match(
      await send(wrong, { [version]: '2026-07-28' }),
      /^400 -32602 .*clientCapabilities/,
    );
    assert.match(await send(wrong, known), /^400 -32020 .*MCP-Protocol-Version must be 2026-07-28/);
    const v998 = { [version]: 'v998', [capabilities]: {} };
    assert.match(await send(wrong, v998), /^400 -32020 .*MCP-Protocol-Version must be v998/);
    const v999 = { [version]: 'v999', [capabilities]: {} };
    assert.match(await send(wrong, v999), /^400 -32020 .*Mcp-Method/);
    const right = ['MCP-Protocol-Version: v999', 'Mcp-Method: tools/call'];
    assert.match(await send(right, v999), /^400 -32022 /);
    assert.match(await send(modernHeaders('tools/call'), known), /^400 -32020 .*Mcp-Name/);
    assert.match(await send(modernHeaders('nothing'), known, 'nothing'), /^404 -32601 /);
  });

  // Requirements: mcp.endpoint.session-headers.
  test('ignores Accept, Mcp-Session-Id and Last-Event-ID', async () => {
    const message = modernRequest('tools/list');
    const headers = modernHeaders('tools/list');
    const { body } = await post(world, message, headers);
    for (const ignored of [
      'accept: application/json',
      'accept: text/event-stream',
      'accept: text/html',
      'accept: nonsense',
      'Mcp-Session-Id: 7d1e',
      'Last-Event-ID: 41',
    ]) {
      assert.equal((await post(world, message, [...headers, ignored])).body, body, ignored);
    }
  });
});
