import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../log/log.ts';
import { mayHaveShops } from '../open.ts';

const restartMilliseconds = 10_000;

export interface RunningSyncs {
  /** Ends after the transactions in progress; at the deadline, at once. */
  close(deadline: AbortSignal): Promise<void>;
}

/**
 * Syncs all connected shops whenever they are due, in a thread of their own.
 * @returns undefined if no shop can be connected, or SYNC is off
 */
export function startSyncs(config: Config, log: Log): RunningSyncs | undefined {
  if (!config.syncs || !mayHaveShops(config)) return undefined;
  let isStopping = false;
  let worker: Worker | undefined;
  const start = () => {
    worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: config });
    worker.on('error', (err) =>
      log.error({ err }, 'the thread that syncs shops died; starting another'),
    );
    worker.once('exit', () => {
      worker = undefined;
      if (isStopping) return;
      setTimeout(() => {
        if (!isStopping) start();
      }, restartMilliseconds).unref();
    });
  };
  start();
  return {
    async close(deadline) {
      isStopping = true;
      if (!worker) return;
      // Not by `once` of node:events, which throws if the thread dies meanwhile; that is in the log already.
      const ended = new Promise((resolve) => worker?.once('exit', resolve));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage('stop');
      const over = new AbortController();
      const late = sleep(2 ** 30, undefined, {
        signal: AbortSignal.any([deadline, over.signal]),
        ref: false,
      });
      await Promise.race([ended, late.catch(() => {})]);
      over.abort();
      if (!worker) return;
      log.warn('syncs did not stop in time and were ended; the next start continues them');
      await worker.terminate();
    },
  };
}
