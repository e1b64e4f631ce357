import { runTogether } from '../../support/together.ts';

// What operators install, and what releases are made of.
await runTogether('test/deploy/*.test.ts', 'test/release*.test.ts');
