import { runTogether } from '../support/together.ts';

// What operators and CI use.
await runTogether('test/deploy/*.test.ts', 'test/release*.test.ts');
