import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { bearer, exchange } from '../rest/raw.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { inShort, legacyRequest, mcpPath, post, postRaw } from './wire.ts';

const json = 'content-type: application/json';
const ping = JSON.stringify(legacyRequest('ping'));
const pong = '200 2025-06-18';

describe('bodies of MCP requests', () => {
  let world: World;
  /** Sends the key and these headers only. */
  const send = (body: string | Uint8Array, ...headers: string[]) =>
    postRaw(world.service.baseUrl, [bearer(world.key), ...headers], body);

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  test('refuses other content types than application/json with 415, after checking the key', async () => {
    for (const type of [
      'application/json',
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      ' application/json ;x=y',
    ]) {
      assert.equal(inShort(await send(ping, `content-type: ${type}`)), pong, type);
    }
    for (const headers of [
      [],
      ['content-type:'],
      ['content-type: text/plain'],
      ['content-type: text/json'],
      ['content-type: application/jsonp'],
      ['content-type: application/json-rpc'],
      ['content-type: application/x-www-form-urlencoded'],
      ['content-type: text/plain; application/json'],
    ]) {
      const answer = await send(ping, ...headers);
      assert.equal(inShort(answer), '415 The content type must be application/json.');
      assert.equal(answer.headers['cache-control'], 'private, no-store');
      const keyless = await postRaw(world.service.baseUrl, headers, ping);
      assert.equal(inShort(keyless), '401 Unauthorized');
    }
  });

  test('accepts a body of 1 MiB, and refuses one more byte with 413, after checking the key', async () => {
    const message = (length: number) => {
      const start = '{"jsonrpc":"2.0","id":1,"method":"ping","x":"';
      return `${start}${'x'.repeat(length - start.length - 2)}"}`;
    };
    assert.equal(inShort(await send(message(1_048_576), json)), pong);
    const tooLarge = '413 The request body is larger than 1048576 bytes.';
    const answer = await send(message(1_048_577), json);
    assert.equal(inShort(answer), tooLarge);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    assert.equal(answer.headers['connection'], 'close');
    // By Content-Length alone, before any of the body is sent.
    const head = [`POST ${mcpPath} HTTP/1.1`, 'host: x', json, 'content-length: 999999999999'];
    const announced = async (...headers: string[]) =>
      (await exchange(world.service.baseUrl, `${[...head, ...headers].join('\r\n')}\r\n\r\n`)) ??
      assert.fail('not answered');
    assert.equal(inShort(await announced(bearer(world.key))), tooLarge);
    assert.equal(inShort(await announced()), '401 Unauthorized');
  });

  test('reads a chunked body up to the same limit', async () => {
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    const chunked = (...parts: string[]) =>
      send([...parts.map(chunk), '0\r\n\r\n'].join(''), json, 'transfer-encoding: chunked');
    assert.equal(inShort(await chunked(ping)), pong);
    assert.equal(inShort(await chunked(...ping)), pong);
    assert.equal(inShort(await chunked()), '200 -32700 Parse error');
    const part = ' '.repeat(65_536);
    assert.equal(inShort(await chunked(...Array(15).fill(part), ping)), pong);
    const answer = await chunked(...Array(17).fill(part), ping);
    assert.equal(inShort(answer), '413 The request body is larger than 1048576 bytes.');
  });

  test('decodes a character that is split between chunks', async () => {
    const message = Buffer.from('{"jsonrpc":"2.0","id":"é","method":"ping"}');
    const at = message.indexOf(0xc3) + 1;
    const piece = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    const body = Buffer.concat([
      piece(message.subarray(0, at)),
      piece(message.subarray(at)),
      Buffer.from('0\r\n\r\n'),
    ]);
    const answer = await send(body, json, 'transfer-encoding: chunked');
    assert.equal(answer.body, '{"jsonrpc":"2.0","id":"é","result":{}}');
  });

  test('survives a body that ends too early', async () => {
    const head = [`POST ${mcpPath} HTTP/1.1`, 'host: x', bearer(world.key), json];
    const { hostname, port } = new URL(world.service.baseUrl);
    for (let count = 0; count < 5; count += 1) {
      const socket = connect(Number(port), hostname);
      socket.write(`${[...head, 'content-length: 100'].join('\r\n')}\r\n\r\n{"jsonrpc"`);
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.resetAndDestroy();
    }
    assert.equal(inShort(await post(world, legacyRequest('ping'))), pong);
  });
});
