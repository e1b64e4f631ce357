/** A thread that requests one operation in a closed loop; started by `runThreads`. */
import { parentPort, workerData } from 'node:worker_threads';
import { runClosedLoop } from './load.ts';
import type { ThreadLoad } from './load-threads.ts';
import { targetOf, workloadsOf } from './workloads.ts';

const { operation, shop, port, milliseconds } = workerData as ThreadLoad;
const workload = workloadsOf(shop).find(({ name }) => name === operation);
if (!workload) throw new Error(`There is no operation ${operation}.`);
const target = targetOf(workload, 'REST', [port], () => shop.keys[0] as string);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(await runClosedLoop(target, { milliseconds }));
