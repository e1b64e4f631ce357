/** Four times as many random prices and customers as `npm test` tries. */
process.env['TEST_RUNS'] ??= '4';

await import('../test/import/values.test.ts');
await import('../test/metrics/customers.test.ts');
