import { runTogether } from '../../support/together.ts';

// What starts no service and no database.
await runTogether(
  'src/!(store)/**/*.test.ts',
  'src/*.test.ts',
  'src/store/!(embedded)/*.test.ts',
  'src/store/*.test.ts',
  'clients/**/*.test.ts',
  'test/{architecture,coverage,dependencies}.test.ts',
  'test/released/*.test.ts',
);
