import { runTogether } from '../support/together.ts';

// The limiter.
await runTogether('test/limiter/*.test.ts');
