import { runTogether } from '../support/together.ts';

// Processes that start, stop and fail.
await runTogether('test/lifecycle/*.test.ts');
