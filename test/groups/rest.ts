import { runTogether } from '../support/together.ts';

// The transport REST.
await runTogether('test/rest/*.test.ts', 'test/golden.test.ts');
