import assert from 'node:assert/strict';
import { restV1 } from '../../src/operations/versions.ts';
import { restPath } from '../mcp/rest-equivalents.ts';
import { mcpPath, modernMeta } from '../mcp/wire.ts';

/** REST, and the revisions of MCP. */
export const transports = ['REST', '2025-06-18', '2026-07-28'] as const;
export type Transport = (typeof transports)[number];

type Input = Readonly<Record<string, unknown>>;

/** A payload, or `success: false` and a message, which are the same over every transport. */
export async function answerOver(
  transport: Transport,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string },
  tool: string,
  input: Input = {},
): Promise<Record<string, any>> {
  const authorization = `Bearer ${key}`;
  if (transport === 'REST') {
    const url = `${baseUrl}${restV1.basePath}${restPath(tool, input)}`;
    return (await fetch(url, { headers: { authorization } })).json() as Promise<object>;
  }
  const isModern = transport === '2026-07-28';
  const params = { name: tool, arguments: input, ...(isModern && { _meta: modernMeta }) };
  const response = await fetch(baseUrl + mcpPath, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      ...(isModern && {
        'mcp-protocol-version': transport,
        'mcp-method': 'tools/call',
        'mcp-name': tool,
      }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  const { result } = (await response.json()) as { result: Record<string, any> };
  const [{ text }] = result['content'];
  if (result['isError']) return { success: false, message: text };
  assert.deepEqual(JSON.parse(text), result['structuredContent']);
  return result['structuredContent'];
}
