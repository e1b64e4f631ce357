import { runTogether } from '../support/together.ts';

// The import.
await runTogether('test/import/*.test.ts');
