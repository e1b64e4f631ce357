import { MCPClient } from '@mastra/mcp';
import { key, report, url } from './given.js';

const headers = { Authorization: `Bearer ${key}` };
const client = new MCPClient({
  servers: { retention: { url: new URL(url), requestInit: { headers } } },
});
const tools = await client.listTools();
const result = await tools.retention_list_plans.execute({});
report(Object.keys(tools), result);
await client.disconnect();
