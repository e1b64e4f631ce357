import { runTogether } from '../../support/together.ts';

// MCP, by its revisions and clients.
await runTogether('test/mcp/**/*.test.ts');
