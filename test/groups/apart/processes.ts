import { runTogether } from '../../support/together.ts';

// Processes that crash, freeze, are killed or run out of memory: most of the time is spent waiting.
await runTogether(
  'test/lifecycle/{heap,last-resort,stalled-log,stop-deadline,syncs,webhooks,workers}.test.ts',
  'test/owner/sources/upload-limits.test.ts',
);
