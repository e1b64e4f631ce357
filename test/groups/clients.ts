import { runTogether } from '../support/together.ts';

// Clients and the documentation's examples against a running service.
await runTogether('test/clients/*.test.ts', 'test/docs/!(browser).test.ts');
