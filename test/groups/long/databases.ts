import { runTogether } from '../../support/together.ts';

// Connections, statements, migrations and the audit log.
await runTogether(
  'test/store/!(*replicas*|*standby*|*synchronous*|plans).test.ts',
  'test/audit/*.test.ts',
);
