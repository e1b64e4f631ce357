import { runTogether } from '../../support/together.ts';

// The limiter, in memory and in Redis.
await runTogether('test/limiter/*.test.ts');
