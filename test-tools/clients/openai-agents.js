import { MCPServerStreamableHttp } from '@openai/agents';
import { key, report, url } from './given.js';

const headers = { Authorization: `Bearer ${key}` };
const server = new MCPServerStreamableHttp({ url, requestInit: { headers } });
await server.connect();
const tools = await server.listTools();
const result = await server.callTool('list_plans', {});
report(
  tools.map(({ name }) => name),
  result,
);
await server.close();
