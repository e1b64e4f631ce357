import { runTogether } from '../../support/together.ts';

// Processes that start, stop, crash and wait: most of the time is spent waiting.
await runTogether('test/lifecycle/*.test.ts');
