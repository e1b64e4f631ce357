import { runTogether } from '../support/together.ts';

// The whole service against a model in memory.
await runTogether('test/model/*.test.ts');
