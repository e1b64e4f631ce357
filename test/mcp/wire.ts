import assert from 'node:assert/strict';
import { bearer, exchange, type RawAnswer } from '../rest/raw.ts';
import type { World } from '../support/world.ts';

export const mcpPath = '/api/mcp';

/** The two keys that 2026-07-28 requires in the _meta of every request. */
export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The headers that 2026-07-28 requires. */
export function modernHeaders(method: string, name?: string): string[] {
  return [
    'MCP-Protocol-Version: 2026-07-28',
    `Mcp-Method: ${method}`,
    ...(name === undefined ? [] : [`Mcp-Name: ${name}`]),
  ];
}

/** A message of 2025-06-18. */
export function legacyRequest(method: string, params?: unknown): object {
  return { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) };
}

/** A message of 2026-07-28; its headers are `modernHeaders`. */
export function modernRequest(method: string, params: object = {}): object {
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta } };
}

/** Sends a POST with these headers and those that HTTP requires, and checks that the response is valid. */
export async function postRaw(
  baseUrl: string,
  headers: readonly string[],
  body: string | Uint8Array,
): Promise<RawAnswer> {
  const bytes = Buffer.from(body);
  const isChunked = headers.some((each) => /^transfer-encoding:/i.test(each));
  const head = [
    `POST ${mcpPath} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    ...(isChunked ? [] : [`content-length: ${bytes.length}`]),
    ...headers,
  ];
  const answer = await exchange(
    baseUrl,
    Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]),
  );
  assert.ok(answer, 'not answered');
  assertValidAnswer(answer);
  return answer;
}

/** Sends a message, or a raw body, with the world's key. */
export function post(
  world: World,
  message: object | string | Uint8Array,
  headers: readonly string[] = [],
): Promise<RawAnswer> {
  const isBody = typeof message === 'string' || message instanceof Uint8Array;
  return postRaw(
    world.service.baseUrl,
    [bearer(world.key), 'content-type: application/json', ...headers],
    isBody ? message : JSON.stringify(message),
  );
}

/** Calls a tool in 2026-07-28. */
export function callModern(world: World, name: string, args: object = {}): Promise<RawAnswer> {
  return post(
    world,
    modernRequest('tools/call', { name, arguments: args }),
    modernHeaders('tools/call', name),
  );
}

/**
 * A summary of a response: the status, then the revision of a result (` isError` where it is one),
 * the code and message of a JSON-RPC error, the envelope's message, or nothing for an empty body.
 */
export function inShort({ status, body }: RawAnswer): string {
  if (body === '') return String(status);
  const { result, error, message } = JSON.parse(body);
  if (error) return `${status} ${error.code} ${error.message}`;
  if (!result) return `${status} ${message}`;
  const revision = result.resultType === 'complete' ? '2026-07-28' : '2025-06-18';
  return `${status} ${revision}${result.isError ? ' isError' : ''}`;
}

const statusesOfCode: Readonly<Record<number, readonly number[]>> = {
  [-32700]: [200],
  [-32600]: [200, 400],
  [-32601]: [200, 404],
  [-32602]: [200, 400],
  [-32020]: [400],
  [-32022]: [400],
};

/** Checks what must hold for every response, whatever the request. */
export function assertValidAnswer({ status, headers, body }: RawAnswer): void {
  assert.match(headers['x-request-id'] ?? '', /^[\w-]{8,}$/);
  assert.equal(headers['mcp-session-id'], undefined);
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('access-control-')),
    [],
  );
  if (body === '') {
    assert.equal(status, 202);
    assert.equal(headers['content-length'], '0');
    assert.equal(headers['content-type'], undefined);
    return;
  }
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  const parsed = JSON.parse(body);
  if ('success' in parsed) {
    assert.equal(body, JSON.stringify({ success: false, message: parsed.message }));
    assert.ok(status >= 400);
    return;
  }
  assert.equal(headers['cache-control'], 'private, no-store');
  assert.deepEqual(Object.keys(parsed), ['jsonrpc', 'id', 'error' in parsed ? 'error' : 'result']);
  assert.equal(parsed.jsonrpc, '2.0');
  if (parsed.error) {
    assert.ok(statusesOfCode[parsed.error.code]?.includes(status), body);
    assert.equal(typeof parsed.error.message, 'string');
  } else {
    assert.equal(status, 200);
  }
}
