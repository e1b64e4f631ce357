import { hash } from 'node:crypto';
import { PgBoss, type Queue } from 'pg-boss';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { jobDatabase } from '../../store/feeds/job-database.ts';
import { NonRetryableError } from '../errors.ts';
import { type Job, type JobKind, jobKinds } from './job.ts';

const hour = 3600;
const day = 24 * hour;

/** Seconds. When an instance stops sending heartbeats, another one restarts its jobs. */
const common = { retryBackoff: true, heartbeatSeconds: 10, retentionSeconds: 365 * day };
const settings: Readonly<Record<JobKind, Omit<Queue, 'name' | 'deadLetter'>>> = {
  // `short`: at most one job per key waits, also while another one runs. Completed jobs are kept
  // for longer than platforms redeliver a webhook, so that duplicates are recognised.
  hints: {
    ...common,
    policy: 'short',
    retryLimit: 10,
    retryDelay: 5,
    retryDelayMax: hour,
    expireInSeconds: 600,
    deleteAfterSeconds: 2 * day,
  },
  duties: {
    ...common,
    policy: 'standard',
    retryLimit: 20,
    retryDelay: 10,
    retryDelayMax: 6 * hour,
    expireInSeconds: 6 * hour,
    deleteAfterSeconds: 90 * day,
  },
};

/** How often each instance looks for jobs. It starts those that it stored itself at once. */
const pollingIntervalSeconds = 5;
const superviseIntervalSeconds = 10;
/** Per instance. */
const workersPerQueue = 2;
const stopMilliseconds = 5_000;

type Handler = (job: Job, signal: AbortSignal) => Promise<void>;

/** Jobs in the database. Each completes once, or is reported as failed. */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #log: Log;
  /** Worker ids by queue. */
  readonly #workers = new Map<string, string[]>();

  private constructor(boss: PgBoss, log: Log) {
    this.#boss = boss;
    this.#log = log;
  }

  /** Also migrates pg-boss's tables. */
  static async open(
    sql: Sql,
    log: Log,
    queues: readonly Readonly<Partial<Record<JobKind, string>>>[],
  ): Promise<JobQueue> {
    const boss = new PgBoss({
      db: jobDatabase(sql),
      schema: 'jobs',
      // No job recurs, and rebuilding indexes is up to the database's owner.
      schedule: false,
      reindex: false,
      monitorVacuum: false,
      persistWarnings: false,
      superviseIntervalSeconds,
      monitorIntervalSeconds: superviseIntervalSeconds,
    });
    boss.on('error', (err) => log.error({ err }, 'webhook queue failed'));
    boss.on('warning', (warning) => log.warn({ warning }, 'webhook queue warning'));
    await boss.start();
    for (const kind of jobKinds) {
      const { policy: _policy, ...rest } = settings[kind];
      for (const { [kind]: name } of queues) {
        if (name === undefined) continue;
        await boss.createQueue(name, settings[kind]);
        await boss.updateQueue(name, rest);
      }
    }
    return new JobQueue(boss, log);
  }

  /**
   * Stores a job in one statement. Does nothing if the webhook is already known.
   * @param key jobs with the same key are duplicates while they wait
   * @param afterSeconds how long it waits at least
   */
  async send(queue: string, job: Job, key: string, afterSeconds = 0): Promise<void> {
    const startAfter = afterSeconds > 0 ? { startAfter: afterSeconds } : {};
    await this.#boss.send(queue, job, { id: job.event, singletonKey: key, ...startAfter });
    this.#wake(queue);
  }

  /** Runs jobs, a few at a time. */
  async work(
    queue: string,
    kind: JobKind,
    handle: Handler,
    workers = workersPerQueue,
  ): Promise<void> {
    const options = {
      batchSize: 1,
      pollingIntervalSeconds,
      perJobResults: true,
    } as const;
    const work = () =>
      this.#boss.work<Job, undefined, typeof options>(queue, options, async ([job]) => {
        if (!job) return [];
        const { id, data, signal, retryCount } = job;
        const { shopId, topic } = data;
        try {
          await handle(data, signal);
          // It may contain an id that had to be forgotten. Running it twice is harmless.
          if (kind === 'duties') await this.#boss.deleteJob(queue, id);
          return [{ id, status: 'completed' as const }];
        } catch (err) {
          const isFinal = err instanceof NonRetryableError;
          const status = isFinal ? ('deadletter' as const) : ('failed' as const);
          this.#log.error({ err, shopId, topic, retryCount, job: id }, 'webhook job failed');
          return [{ id, status, output: { reason: (err as Error).message } }];
        } finally {
          // There may be more jobs.
          this.#wake(queue);
        }
      });
    this.#workers.set(queue, await Promise.all(Array.from({ length: workers }, work)));
  }

  /** Makes the workers look for jobs as soon as they are free. */
  #wake(queue: string): void {
    for (const worker of this.#workers.get(queue) ?? []) this.#boss.notifyWorker(worker);
  }

  /** Lets running jobs finish; those that take too long go back to the queue. */
  async close(): Promise<void> {
    await this.#boss.stop({ close: false, graceful: true, timeout: stopMilliseconds });
  }
}

/** Derives a UUID, always the same one for the same words. */
export function idOf(...words: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(words)).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
