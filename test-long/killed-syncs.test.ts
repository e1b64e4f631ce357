/** `npm test` kills three syncs at some of their requests, and this at each of them. */
process.env['TEST_RUNS'] ??= '4';

await import('../test/feeds/recharge/command.test.ts');
await import('../test/feeds/stripe/command.test.ts');
