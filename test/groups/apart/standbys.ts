import { runTogether } from '../../support/together.ts';

// Standbys: most of the time is spent waiting for them.
await runTogether('test/store/*{replicas,standby,synchronous}*.test.ts');
