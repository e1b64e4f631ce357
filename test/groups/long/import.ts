import { runTogether } from '../../support/together.ts';

// The import, as every way in uses it.
await runTogether('test/import/*.test.ts');
