import { runTogether } from '../../support/together.ts';

// The embedded database: a process holds several of them, one after the other.
await runTogether('src/store/embedded/*.test.ts');
