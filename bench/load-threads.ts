import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadResult } from './load.ts';
import type { Shop } from './world.ts';

/** What a thread requests; unlike a target, it can be handed to one. */
export interface ThreadLoad {
  readonly operation: string;
  /** Its first key must have no limit. */
  readonly shop: Shop;
  readonly port: number;
  readonly milliseconds: number;
}

/** Closed loops in several threads at once, for services that are faster than one thread can request. */
export async function runThreads(threads: number, workerData: ThreadLoad): Promise<LoadResult> {
  const results = await Promise.all(
    Array.from({ length: threads }, async () => {
      const thread = new Worker(new URL('./load-thread.ts', import.meta.url), { workerData });
      const [result] = (await once(thread, 'message')) as [LoadResult];
      return result;
    }),
  );
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  return {
    requests,
    // Each runs for as long, but they do not start together.
    seconds: requests / results.reduce((sum, each) => sum + each.requests / each.seconds, 0),
    latencies: Float64Array.from(results.flatMap(({ latencies }) => [...latencies])).toSorted(),
    statuses: new Map([[200, requests]]),
  };
}
