import { hash } from 'node:crypto';
import type { PgBoss, Queue } from 'pg-boss';
import { CommandError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { jobDatabase } from '../../store/feeds/jobs.ts';
import { NonRetryableError } from '../errors.ts';

/** hints: something changed and must be fetched; duties: required actions, such as redactions. */
export type JobKind = 'hints' | 'duties';

/** A stored job: where it came from, and its task. */
export interface Job {
  readonly shopId: number;
  /** A UUID: the same if the webhook is sent again. */
  readonly event: string;
  /** As the webhook named it. */
  readonly topic: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly kind: string;
}

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

/** Who runs the jobs of a queue. */
interface Worker {
  readonly queue: string;
  readonly kind: JobKind;
  readonly handle: Handler;
  readonly count: number;
}

/** Jobs in the database. Each completes once, or is reported as failed. */
export class JobQueue {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #workers: Worker[] = [];
  /** Ids of running workers, by queue. */
  readonly #running = new Map<string, string[]>();
  readonly #firstAttempt = Promise.withResolvers<void>();
  /** Undefined until it is open. */
  #boss: PgBoss | undefined;
  #isClosed = false;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  /** Has jobs run, a few at a time, once the queue is open. To be called before that. */
  work(queue: string, kind: JobKind, handle: Handler, count = workersPerQueue): void {
    this.#workers.push({ queue, kind, handle, count });
  }

  /**
   * Opens it, unless it is open. Also migrates pg-boss's tables.
   * @throws if the database is away, or does not let it; then it can be tried again
   */
  async open(): Promise<void> {
    if (this.#boss) return;
    const boss = await this.#createBoss();
    try {
      await boss.start();
      for (const { queue, kind } of this.#workers) {
        const { policy: _policy, ...rest } = settings[kind];
        await boss.createQueue(queue, settings[kind]);
        await boss.updateQueue(queue, rest);
      }
      if (this.#isClosed) throw new CommandError('The job queue was closed.');
      this.#boss = boss;
      for (const worker of this.#workers) await this.#startWorkers(boss, worker);
    } catch (error) {
      this.#boss = undefined;
      await boss.stop({ close: false, graceful: false });
      throw error;
    } finally {
      this.#firstAttempt.resolve();
    }
  }

  async #createBoss(): Promise<PgBoss> {
    const log = this.#log;
    // Loaded beside listening: it is a sixth of what a server loads, and the first requests need none of it.
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      db: jobDatabase(this.#sql),
      schema: 'jobs',
      // No job recurs, and rebuilding indexes is up to the database's owner.
      schedule: false,
      reindex: false,
      monitorVacuum: false,
      persistWarnings: false,
      superviseIntervalSeconds,
      monitorIntervalSeconds: superviseIntervalSeconds,
    });
    boss.on('error', (err) => log.error({ err }, 'job queue failed'));
    boss.on('warning', (warning) => log.warn({ warning }, 'job queue warning'));
    return boss;
  }

  /**
   * Waits for the first attempt to open it, which is under way while a server starts.
   * @throws CommandError if it is not open
   */
  async opened(): Promise<PgBoss> {
    await this.#firstAttempt.promise;
    if (this.#boss) return this.#boss;
    throw new CommandError('The job queue is not open.');
  }

  /**
   * Stores a job in one statement. Does nothing if the webhook is already known.
   * @param key jobs with the same key are duplicates while they wait
   * @param afterSeconds how long it waits at least
   * @throws CommandError if the queue is not open
   */
  async send(queue: string, job: Job, key: string, afterSeconds = 0): Promise<void> {
    const boss = await this.opened();
    const startAfter = afterSeconds > 0 ? { startAfter: afterSeconds } : {};
    const group = { id: String(job.shopId) };
    await boss.send(queue, job, { id: job.event, singletonKey: key, group, ...startAfter });
    this.#wake(queue);
  }

  async #startWorkers(boss: PgBoss, { queue, kind, handle, count }: Worker): Promise<void> {
    const options = {
      batchSize: 1,
      pollingIntervalSeconds,
      perJobResults: true,
      // A shop has one worker of several, of all instances. Not per instance: pg-boss then gives back jobs that it has
      // taken, which fails if another one with the same key waits by then.
      ...(count > 1 && { groupConcurrency: 1 }),
    } as const;
    const start = () =>
      boss.work<Job, undefined, typeof options>(queue, options, async ([job]) => {
        if (!job) return [];
        const { id, data, signal, retryCount } = job;
        const { shopId, topic } = data;
        try {
          await handle(data, signal);
          // It may contain an id that had to be forgotten. Running it twice is harmless.
          if (kind === 'duties') await boss.deleteJob(queue, id);
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
    this.#running.set(queue, await Promise.all(Array.from({ length: count }, start)));
  }

  /** Makes the workers look for jobs as soon as they are free. */
  #wake(queue: string): void {
    for (const worker of this.#running.get(queue) ?? []) this.#boss?.notifyWorker(worker);
  }

  /** Lets running jobs finish; those that take too long go back to the queue. An attempt to open it fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#firstAttempt.resolve();
    await this.#boss?.stop({ close: false, graceful: true, timeout: stopMilliseconds });
  }
}

/** Derives a UUID, always the same one for the same words. */
export function idOf(...words: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(words)).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
