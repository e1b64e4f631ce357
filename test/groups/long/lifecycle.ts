import { runTogether } from '../../support/together.ts';

// Processes that start, serve and stop.
await runTogether(
  'test/lifecycle/{connections,embedded,exit-status,key-use,locked-table,postgres}.test.ts',
  'test/lifecycle/{slow-readers,stopping,streams,terminal-log}.test.ts',
);
