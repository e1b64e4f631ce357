/** A thread that posts the time of each request when it is due; started by `runOpenLoop`. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Schedule, epochNow } from './pacer.ts';

const { begin, end, interval } = workerData as Schedule;
const never = new Int32Array(new SharedArrayBuffer(4));
for (let at = begin; at < end; at += interval) {
  Atomics.wait(never, 0, 0, Math.max(0, at - epochNow()));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(at);
}
