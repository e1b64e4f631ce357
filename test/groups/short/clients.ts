import { runTogether } from '../../support/together.ts';

// The clients, and the documentation with its examples.
await runTogether('test/clients/*.test.ts', 'test/docs/!(browser).test.ts');
