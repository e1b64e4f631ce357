import { runTogether } from '../support/together.ts';

// REST, and the golden data set.
await runTogether('test/rest/*.test.ts', 'test/golden.test.ts');
