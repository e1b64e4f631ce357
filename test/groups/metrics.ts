import { runTogether } from '../support/together.ts';

// Figures.
await runTogether('test/metrics/*.test.ts');
