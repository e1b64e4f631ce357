import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { key, report, url } from './given.js';

const headers = { Authorization: `Bearer ${key}` };
const client = new MultiServerMCPClient({
  mcpServers: { retention: { transport: 'http', url, headers } },
});
const tools = await client.getTools();
const result = await tools.find(({ name }) => name === 'list_plans').invoke({});
report(
  tools.map(({ name }) => name),
  result,
);
await client.close();
