import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../../config/config.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { whole } from '../framework/command.ts';
import { limitWorkerHeaps } from './heap.ts';
import { logLastResort, setLastResort } from './last-resort.ts';

const maxWorkers = 64;
/** How long after its own deadline a worker may still exit by itself. */
const killMilliseconds = 1_000;
/** Keeps a worker that cannot start from using a whole core. */
const restartMilliseconds = 1_000;

export const workerCount = whole('N', 1, maxWorkers);

/** @throws UsageError if the configuration allows only one worker */
export function checkWorkers(count: number, config: Config): void {
  if (count > 1 && (config.databaseUrl === undefined || config.redisUrl === undefined)) {
    throw new UsageError(
      'Several workers need DATABASE_URL, because the embedded database belongs to one process, and REDIS_URL, to share rate limits.',
    );
  }
}

/** A worker calls this once it answers requests. */
export function reportReady(baseUrl: string): void {
  process.send?.({ baseUrl });
}

interface Supervision {
  readonly config: Config;
  readonly log: Log;
  /** Settles when all workers should stop. */
  readonly stopped: Promise<NodeJS.Signals>;
  /** Runs once all workers answer requests. */
  greet(baseUrl: string): void;
}

/**
 * Runs this command in several processes that share its port, until stopped. A worker that dies is
 * replaced while the others keep answering. Each serves its own metrics, on ports from
 * METRICS_PORT up.
 * @returns whether all of them exited cleanly
 * @throws CommandError if a worker exits before it is ready; it has reported why
 */
export async function superviseWorkers(
  count: number,
  { config, log, stopped, greet }: Supervision,
): Promise<boolean> {
  limitWorkerHeaps(config, count);
  let isStopping = false;
  let isClean = true;
  const workers = new Set<Worker>();
  const startWorker = (number: number): Promise<string> => {
    const { metricsPort } = config;
    const worker = cluster.fork(metricsPort ? { METRICS_PORT: metricsPort + number } : {});
    workers.add(worker);
    const ready = Promise.withResolvers<string>();
    worker.once('message', ({ baseUrl }: { baseUrl: string }) => ready.resolve(baseUrl));
    worker.once('exit', (status, signal) => {
      workers.delete(worker);
      ready.reject(new CommandError('A worker exited before it was ready.'));
      if (isStopping) {
        // A worker that is still starting has no handler, so the signal itself ends it.
        if (status === 0 || signal === 'SIGTERM' || signal === 'SIGINT') return;
        isClean = false;
        log.error({ worker: number, status, signal }, 'worker failed while stopping');
        return;
      }
      log.error({ worker: number, status, signal }, 'worker died; starting another');
      setTimeout(() => {
        // If it fails to start, its own exit is handled above.
        if (!isStopping) startWorker(number).catch(() => {});
      }, restartMilliseconds).unref();
    });
    return ready.promise;
  };

  const stopAll = async () => {
    isStopping = true;
    const exits = [...workers].map(async (worker) => {
      const exit = once(worker, 'exit');
      worker.kill('SIGTERM');
      await exit;
    });
    await Promise.all(exits);
  };
  // Workers die with their supervisor. Stopping them first lets them save key usage.
  setLastResort(logLastResort(log, stopAll));

  try {
    const all = Promise.all(Array.from({ length: count }, (_, number) => startWorker(number)));
    const isReady = await Promise.race([all.then(() => true), stopped.then(() => false)]);
    if (isReady) {
      greet((await all)[0] as string);
      log.info({ signal: await stopped }, 'stopping workers');
    }
  } finally {
    const kill = setTimeout(
      () => {
        log.error({ workers: workers.size }, 'workers did not exit in time; killing them');
        for (const worker of workers) worker.kill('SIGKILL');
      },
      config.stopSeconds * 1000 + killMilliseconds,
    );
    await stopAll();
    clearTimeout(kill);
  }
  return isClean;
}
