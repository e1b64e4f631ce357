import { existsSync, readFileSync } from 'node:fs';

/** In a request: that the answer is to have it, too, with how long the thread that answers was on a core before. */
export const onCoreHeader = 'x-on-core';

/** Whether this system says how long a thread was on a core, and how long it waited for one. */
const isKnown = existsSync('/proc/thread-self/schedstat');

/** Both in milliseconds. */
function readTimes(thread: string): [onCore: number, waiting: number] {
  const [onCore = 0, waiting = 0] = readFileSync(`/proc/${thread}/schedstat`, 'utf8')
    .split(' ')
    .map(Number);
  return [onCore / 1e6, waiting / 1e6];
}

/** How long a process's main thread has been on a core so far, in milliseconds; the time of day where unknown. */
export function workedMilliseconds(pid: number): number {
  return isKnown ? readTimes(`${pid}/task/${pid}`)[0] : performance.now();
}

/** How long the calling thread has waited for a core so far, in milliseconds; 0 where unknown. */
export function waitedMilliseconds(): number {
  return isKnown ? readTimes('thread-self')[1] : 0;
}
