import { runTogether } from '../../support/together.ts';

// Every statement is run in five databases.
await runTogether('test/store/plans.test.ts');
