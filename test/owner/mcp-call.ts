/** Sends one MCP request with the key. */
export function mcpRequest(
  baseUrl: string,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${baseUrl}/api/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
}

/** The same; returns its status. */
export async function mcpPost(baseUrl: string, key: string): Promise<number> {
  const response = await mcpRequest(baseUrl, key);
  const text = await response.text();
  return text.includes('"list_plans"') ? response.status : 0;
}
