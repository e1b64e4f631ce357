import { runTogether } from '../support/together.ts';

// Connections and statements.
await runTogether('test/store/*.test.ts');
