import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../../config.ts';
import { CommandError, UsageError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { limitWorkerHeaps } from './heap.ts';
import { logLastResort, setLastResort } from './last-resort.ts';

const mostWorkers = 64;
/** What a worker that is late is left to end by itself, as it does after its own deadline. */
const killMilliseconds = 1_000;
/** So that one that cannot start does not keep a core busy with trying. */
const restartMilliseconds = 1_000;

/** @throws UsageError for what is no number of workers, or where several cannot work together */
export function parseWorkers(text: string, config: Config): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > mostWorkers) {
    throw new UsageError(`--workers takes a whole number from 1 to ${mostWorkers}, not "${text}".`);
  }
  if (count > 1 && (config.databaseUrl === undefined || config.redisUrl === undefined)) {
    throw new UsageError(
      'Several workers need DATABASE_URL, since the embedded database belongs to one process, and REDIS_URL, to limit together.',
    );
  }
  return count;
}

/** Called by a worker once it answers. */
export function reportReady(baseUrl: string): void {
  process.send?.({ baseUrl });
}

interface Supervision {
  readonly config: Config;
  readonly log: Log;
  /** Settles when all is to end. */
  readonly stopped: Promise<NodeJS.Signals>;
  /** Runs once every worker answers. */
  greet(baseUrl: string): void;
}

/**
 * Runs this same command in several processes that share its port, until it is told to stop. One that
 * dies is replaced; the others answer meanwhile. Each has the metrics of its own on a port of its own,
 * from METRICS_PORT upwards.
 * @returns whether all of them ended cleanly
 * @throws CommandError when one cannot even start; it has said why by then
 */
export async function superviseWorkers(
  count: number,
  { config, log, stopped, greet }: Supervision,
): Promise<boolean> {
  limitWorkerHeaps(config, count);
  let isStopping = false;
  let isClean = true;
  const living = new Set<Worker>();
  const keepOne = (number: number): Promise<string> => {
    const { metricsPort } = config;
    const worker = cluster.fork(metricsPort ? { METRICS_PORT: metricsPort + number } : {});
    living.add(worker);
    const ready = Promise.withResolvers<string>();
    worker.once('message', ({ baseUrl }: { baseUrl: string }) => ready.resolve(baseUrl));
    worker.once('exit', (status, signal) => {
      living.delete(worker);
      ready.reject(new CommandError('A worker ended before it listened.'));
      if (isStopping) {
        // One that was still starting ends by the signal itself.
        if (status > 0 || signal === 'SIGKILL') isClean = false;
        return;
      }
      log.error({ worker: number, status, signal }, 'worker died; another takes its place');
      setTimeout(() => {
        // Where it fails to start, its own end says so.
        if (!isStopping) keepOne(number).catch(() => {});
      }, restartMilliseconds).unref();
    });
    return ready.promise;
  };

  const endAll = async () => {
    isStopping = true;
    const ends = [...living].map(async (worker) => {
      const end = once(worker, 'exit');
      worker.kill('SIGTERM');
      await end;
    });
    await Promise.all(ends);
  };
  // Workers die with their supervisor; told before, they store the use of keys first.
  setLastResort(logLastResort(log, endAll));

  try {
    const all = Promise.all(Array.from({ length: count }, (_, number) => keepOne(number)));
    const isReady = await Promise.race([all.then(() => true), stopped.then(() => false)]);
    if (isReady) {
      greet((await all)[0] as string);
      log.info({ signal: await stopped }, 'stopping workers');
    }
  } finally {
    const kill = setTimeout(
      () => {
        log.error({ workers: living.size }, 'workers did not end in time; they are killed');
        for (const worker of living) worker.kill('SIGKILL');
      },
      config.stopSeconds * 1000 + killMilliseconds,
    );
    await endAll();
    clearTimeout(kill);
  }
  return isClean;
}
