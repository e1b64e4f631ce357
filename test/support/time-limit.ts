/*
 * Preloaded for each test file, which is a separate process. The runner would wait forever for a file whose
 * tests have finished but which something keeps alive, and its own timeouts do not end it.
 */
import { writeSync } from 'node:fs';

const limitMinutes = 15;

// The runner itself loads this too; it runs for as long as all files together.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(', ');
    writeSync(
      2,
      `This file did not exit within ${limitMinutes} minutes; kept alive by ${resources}.\n`,
    );
    process.exit(1);
  }, limitMinutes * 60_000).unref();
}
