import { runTogether } from '../support/together.ts';

// Files of other systems.
await runTogether('test/feeds/mapping/**/*.test.ts');
