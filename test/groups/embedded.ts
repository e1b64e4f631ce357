import { runTogether } from '../support/together.ts';

// The embedded database, opened and closed.
await runTogether('src/store/embedded/*.test.ts');
