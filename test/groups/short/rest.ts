import { runTogether } from '../../support/together.ts';

// REST, the golden data set, and the whole service against a model in memory.
await runTogether('test/rest/*.test.ts', 'test/golden.test.ts', 'test/model/*.test.ts');
