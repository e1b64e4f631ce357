import { createMCPClient } from '@ai-sdk/mcp';
import { key, report, url } from './given.js';

const headers = { Authorization: `Bearer ${key}` };
const client = await createMCPClient({ transport: { type: 'http', url, headers } });
const tools = await client.tools();
const result = await tools.list_plans.execute({}, { toolCallId: '1', messages: [] });
report(Object.keys(tools), result);
await client.close();
