import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Times are in epoch milliseconds with fractions, because each thread has its own zero for `performance.now()`. */
export interface Schedule {
  readonly begin: number;
  readonly end: number;
  readonly interval: number;
}

export function epochNow(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Calls back at each time of a schedule, soon after it. A thread sleeps until then: timers are up to two milliseconds
 * late, and a loop that yields until it is time takes a core from what is measured.
 */
export async function pace(schedule: Schedule, due: (at: number) => void): Promise<void> {
  const thread = new Worker(new URL('./pacer-thread.ts', import.meta.url), {
    workerData: schedule,
  });
  thread.on('message', due);
  await once(thread, 'exit');
}
