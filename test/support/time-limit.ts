/*
 * Loaded before each test file, which is a process of its own: the runner would wait for ever for one
 * whose tests are over but which something keeps alive, and its own time limits do not end it.
 */
import { writeSync } from 'node:fs';

const limitMinutes = 15;

// The runner itself loads this too; it lives as long as all files together.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  setTimeout(() => {
    const keptBy = process.getActiveResourcesInfo().join(', ');
    writeSync(2, `This file has not ended within ${limitMinutes} minutes; kept by ${keptBy}.\n`);
    process.exit(1);
  }, limitMinutes * 60_000).unref();
}
