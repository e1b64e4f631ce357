import { runTogether } from '../support/together.ts';

// Records that others push, and webhooks.
await runTogether('test/push/*.test.ts', 'test/webhooks/*.test.ts');
