import { runTogether } from '../support/together.ts';

// Connections, statements and migrations.
await runTogether('test/store/!(*replicas*|*standby*|*synchronous*).test.ts');
