import { runTogether } from '../support/together.ts';

// Platforms.
await runTogether(
  'test/feeds/{shopify,postgres,recharge,stripe}/**/*.test.ts',
  'test/platforms/*.test.ts',
);
