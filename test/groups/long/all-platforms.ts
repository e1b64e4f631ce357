import { runTogether } from '../../support/together.ts';

// Platforms: with this name it is the first group to start, as it takes longest.
await runTogether(
  'test/feeds/{shopify,postgres,recharge,stripe}/**/*.test.ts',
  'test/platforms/*.test.ts',
);
