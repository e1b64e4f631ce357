import { runTogether } from '../support/together.ts';

// Platforms.
await runTogether('test/feeds/shopify/**/*.test.ts', 'test/platforms/*.test.ts');
