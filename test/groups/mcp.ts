import { runTogether } from '../support/together.ts';

// The transport MCP.
await runTogether('test/mcp/**/*.test.ts');
