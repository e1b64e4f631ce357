import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

const flushMilliseconds = 500;

/**
 * Ends the process once the log is written, or cannot be written for half a second.
 * @param status the one that was set before, if nothing is said
 */
export async function exitFlushed(log: Log, status?: number): Promise<never> {
  const written = new Promise<void>((resolve) => log.flush(() => resolve()));
  await Promise.race([written, sleep(flushMilliseconds)]);
  process.exit(status);
}
