import { runTogether } from '../../support/together.ts';

// Commands, most of them in this process.
await runTogether('test/cli/*.test.ts');
