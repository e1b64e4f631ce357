import { totalmem } from 'node:os';

const megabyte = 2 ** 20;
/** An import has never needed more. */
const maxMegabytes = 512;
/** Less would not do for the largest records. */
const minMegabytes = 96;
/** Of a container's memory: two files may be examined and two be imported at the same time. */
const share = 1 / 8;

/** How large the heap of a process may be that reads an uploaded file. */
export function heapOfJob(limitBytes = process.constrainedMemory()): number {
  // Without a limit, systems report a number larger than the memory.
  const memory = limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem();
  const megabytes = Math.floor((memory / megabyte) * share);
  return Math.min(maxMegabytes, Math.max(minMegabytes, megabytes));
}
