/*
 * Preloaded for each process of tests. The runner would wait forever for a file whose tests have finished but
 * which something keeps alive, and its own timeouts do not end it.
 */
import { writeSync } from 'node:fs';

const limitMinutes = 15;

let limit: NodeJS.Timeout | undefined;

/** Gives a file of several that run in this process its own 15 minutes. */
export function restartTimeLimit(file: string): void {
  clearTimeout(limit);
  limit = setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(', ');
    writeSync(
      2,
      `${file} did not end within ${limitMinutes} minutes; kept alive by ${resources}.\n`,
    );
    process.exit(1);
  }, limitMinutes * 60_000).unref();
}

// The runner itself loads this too; it runs for as long as all files together.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) restartTimeLimit('This file');
