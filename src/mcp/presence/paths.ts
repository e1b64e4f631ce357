/** What clients and registries fetch, without a key. */
export const paths = {
  bundle: '/docs/mcp/retention.mcpb',
  serverJson: '/docs/mcp/server.json',
  icon: '/docs/mcp/icon.svg',
  iconImage: '/docs/mcp/icon.png',
} as const;
