import { parentPort, workerData } from 'node:worker_threads';
import { type ExamineRequest, examine } from './examine.ts';

/* The thread in which a file is examined, so that it delays no request. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(await examine(workerData as ExamineRequest));
