import { runTogether } from '../support/together.ts';

// Platforms: Shopify, and the stub.
await runTogether('test/feeds/{shopify,postgres}/**/*.test.ts', 'test/platforms/*.test.ts');
