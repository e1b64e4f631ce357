/** Sends one MCP request with the key, and returns its status. */
export async function mcpPost(baseUrl: string, key: string): Promise<number> {
  const response = await fetch(`${baseUrl}/api/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const text = await response.text();
  return text.includes('"list_plans"') ? response.status : 0;
}
