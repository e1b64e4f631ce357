import { totalmem } from 'node:os';

/** How often a job tells how far it is. */
export const reportMilliseconds = 1000;

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

/* Why a file is not imported, in words for its owner. */

export const failedHere =
  'Something failed on our side. Try again; if it keeps failing, tell the operator of this service.';

export function tooMuchMemory(fileName: string): string {
  return `${fileName} needs more memory than one file may take. Split it into smaller files, or leave out columns that are not about subscriptions.`;
}

export function tooMuchTime(fileName: string): string {
  return `${fileName} could not be read in time. Split it into smaller files.`;
}
