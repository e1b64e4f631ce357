import { runTogether } from '../../support/together.ts';

// Mapping files: other systems’ exports as records.
await runTogether('test/feeds/mapping/**/*.test.ts');
