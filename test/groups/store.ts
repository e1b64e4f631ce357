import { runTogether } from '../support/together.ts';

// Connections, statements, standbys and migrations.
await runTogether('test/store/*.test.ts');
