import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { inShort, modernHeaders, modernMeta, post } from './wire.ts';

const in2026 = ['MCP-Protocol-Version: 2026-07-28'];
const in2025 = ['MCP-Protocol-Version: 2025-06-18'];
const parseError = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}';
const invalid = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';

describe('JSON-RPC messages', () => {
  let world: World;
  const assertInvalid = async (body: string, expected = invalid) => {
    for (const [headers, status] of [
      [[], 200],
      [in2025, 200],
      [['MCP-Protocol-Version: v999'], 200],
      [in2026, 400],
    ] as const) {
      const answer = await post(world, body, headers);
      assert.equal(answer.status, status, body);
      assert.equal(answer.body, expected, body);
    }
  };
  const assertIgnored = async (body: string) => {
    for (const headers of [[], in2025, in2026, modernHeaders('x'), ['MCP-Protocol-Version: v9']]) {
      const answer = await post(world, body, headers);
      assert.equal(inShort(answer), '202', body);
      assert.equal(answer.headers['cache-control'], 'private, no-store');
    }
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.errors.parse.
  test('responds -32700 with 200 to invalid JSON, in both revisions', async () => {
    for (const body of [
      '',
      ' ',
      '{',
      '{"jsonrpc":"2.0","id":1,"method":"ping"',
      '{"jsonrpc":"2.0","id":1,"method":"ping"}}',
      "{'jsonrpc':'2.0'}",
      '{"id":01}',
      '{"id":NaN}',
      'undefined',
      '// {}',
      '{"a":1,}',
      '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"method":"pi\nng"}',
      '['.repeat(100_000),
      '{"a":'.repeat(100_000),
      Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
      Buffer.from('{"jsonrpc":"2.0","id":"é","method":"ping"}', 'latin1'),
      Buffer.from('7b226964223a22eda080227d', 'hex'),
    ]) {
      for (const headers of [[], in2025, in2026]) {
        const answer = await post(world, body, headers);
        assert.equal(answer.status, 200);
        assert.equal(answer.body, parseError);
      }
    }
  });

  // Requirements: mcp.errors.array, mcp.endpoint.batch.
  test('refuses an array as an invalid request', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const body of ['[]', '[1]', `[${ping}]`, `[${ping},${ping}]`, '[[]]', '[null]']) {
      await assertInvalid(body);
    }
    await assertInvalid(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await assertInvalid(deep);
  });

  test('refuses anything but an object as an invalid request', async () => {
    for (const body of ['null', 'true', '0', '1e400', '"ping"', '""']) await assertInvalid(body);
  });

  test('refuses an object that is not a message, and echoes a readable id', async () => {
    for (const body of [
      '{}',
      '{"jsonrpc":"2.0"}',
      '{"method":"ping"}',
      '{"jsonrpc":2.0,"method":"ping"}',
      '{"jsonrpc":"1.0","method":"ping"}',
      '{"jsonrpc":"2.0","method":null}',
      '{"jsonrpc":"2.0","method":["ping"]}',
      '{"jsonrpc":"2.0","params":{}}',
      '{"__proto__":{"jsonrpc":"2.0","method":"ping"}}',
    ]) {
      await assertInvalid(body);
    }
    for (const [id, echoed] of [
      ['1', '1'],
      ['"a"', '"a"'],
    ]) {
      const expected = `{"jsonrpc":"2.0","id":${echoed},"error":{"code":-32600,"message":"Invalid Request"}}`;
      await assertInvalid(`{"id":${id}}`, expected);
      await assertInvalid(`{"id":${id},"method":"ping"}`, expected);
      await assertInvalid(`{"jsonrpc":"2","id":${id},"method":"ping"}`, expected);
      await assertInvalid(`{"jsonrpc":"2.0","id":${id}}`, expected);
      await assertInvalid(`{"jsonrpc":"2.0","id":${id},"method":5}`, expected);
      await assertInvalid(`{"jsonrpc":"2.0","id":${id},"method":{"a":1},"result":1}`, expected);
    }
  });

  test('accepts a string or an integer as id, and echoes its source text', async () => {
    const huge = 'x'.repeat(100_000);
    for (const id of [
      '0',
      '-0',
      '-7',
      '1.0',
      '1e2',
      '9007199254740991',
      '9007199254740993',
      '-9007199254740993',
      '1e400',
      '9'.repeat(10_000),
      '""',
      '"1"',
      '"\\u0061\\/"',
      '"\\u0000\\ud800 \\"é世界👩‍🚀"',
      `"${huge}"`,
    ]) {
      const answered = await post(world, `{"jsonrpc":"2.0","method":"ping","id": ${id} }`);
      assert.equal(answered.status, 200);
      assert.equal(answered.body, `{"jsonrpc":"2.0","id":${id},"result":{}}`);
      const refused = await post(world, `{"jsonrpc":"2.0","method":"nothing","id":${id}}`);
      assert.equal(
        refused.body,
        `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`,
      );
      await assertInvalid(
        `{"jsonrpc":"2.0","id":${id}}`,
        `{"jsonrpc":"2.0","id":${id},"error":{"code":-32600,"message":"Invalid Request"}}`,
      );
    }
    for (const id of [
      'null',
      'true',
      '1.5',
      '1e-1',
      '9007199254740993.5',
      '[]',
      '[1]',
      '{}',
      '{"toString":"x"}',
    ]) {
      await assertInvalid(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    }
  });

  // Requirements: mcp.errors.notification.
  test('responds 202 without a body to a message without id, whatever the method', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","method":"ping"}',
      '{"jsonrpc":"2.0","method":"initialize"}',
      '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nothing","arguments":5}}',
      '{"jsonrpc":"2.0","method":"nothing","params":[1]}',
      '{"jsonrpc":"2.0","method":"","params":null}',
      '{"jsonrpc":"2.0","method":"ping","__proto__":{"id":1}}',
      JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { _meta: modernMeta } }),
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'x',
        params: { _meta: { 'io.modelcontextprotocol/protocolVersion': 'v999' } },
      }),
    ]) {
      await assertIgnored(body);
    }
  });

  test('ignores a response like a notification', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}',
      '{"jsonrpc":"2.0","id":null,"result":null}',
      '{"jsonrpc":"2.0","result":{}}',
      '{"result":{},"error":{}}',
    ]) {
      await assertIgnored(body);
    }
  });

  test('refuses params that are not an object, but accepts missing ones', async () => {
    const send = async (method: string, params: string) =>
      inShort(
        await post(world, `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`),
      );
    for (const params of ['null', '5', 'true', '"x"', '[]', '[{}]']) {
      assert.equal(await send('ping', params), '200 -32602 Invalid params');
      assert.equal(await send('tools/call', params), '200 -32602 Invalid params');
      assert.equal(await send('nothing', params), '200 -32601 Method not found');
    }
    const call = await post(world, '{"jsonrpc":"2.0","id":1,"method":"tools/call"}');
    assert.equal(inShort(call), '200 -32602 Invalid params: name must be a string.');
  });

  test('uses the last of members with the same name', async () => {
    const { body } = await post(
      world,
      '{"jsonrpc":"1.0","id":1,"method":"nothing","jsonrpc":"2.0","id":2,"method":"ping"}',
    );
    assert.equal(body, '{"jsonrpc":"2.0","id":2,"result":{}}');
  });

  test('ignores unknown members, however deep or many', async () => {
    const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    const many = Array.from({ length: 50_000 }, (_, index) => `"k${index}":0`).join();
    for (const extra of [`"x":${deep}`, many, '"__proto__":{"method":"x"}', '"toString":1']) {
      const { body } = await post(world, `{"jsonrpc":"2.0","id":1,"method":"ping",${extra}}`);
      assert.equal(body, '{"jsonrpc":"2.0","id":1,"result":{}}');
    }
  });

  test('handles deep, wide and hostile arguments', async () => {
    const call = (args: string) =>
      post(
        world,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_plans","arguments":${args}}}`,
      );
    const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    assert.equal(inShort(await call(deep)), '200 2025-06-18 isError');
    const wide = `{"a":[${'[],'.repeat(200_000)}0]}`;
    assert.equal(inShort(await call(wide)), '200 2025-06-18 isError');
    assert.equal(inShort(await call('{"__proto__":{"limit":1}}')), '200 2025-06-18 isError');
    assert.equal(inShort(await call('{"constructor":1}')), '200 2025-06-18 isError');
    assert.equal(inShort(await call('{}')), '200 2025-06-18');
  });
});
