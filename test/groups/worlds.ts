import { runTogether } from '../support/together.ts';

// The service against a model in memory.
await runTogether('test/model/*.test.ts');
