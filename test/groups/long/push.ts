import { runTogether } from '../../support/together.ts';

// Pushed records and webhooks: both wait for jobs.
await runTogether('test/push/*.test.ts', 'test/webhooks/*.test.ts');
