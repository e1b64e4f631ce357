import { hash } from 'node:crypto';
import { PgBoss, type Queue } from 'pg-boss';
import type { Log } from '../../log/log.ts';
import type { Sql } from '../../store/database.ts';
import { jobDatabase } from '../../store/feeds/job-database.ts';
import { NonRetryableError } from '../errors.ts';
import { type Job, type JobKind, jobKinds } from './job.ts';

const hour = 3600;
const day = 24 * hour;

/** Seconds. What an instance has begun and left is begun again elsewhere once its heartbeat is missed. */
const common = { retryBackoff: true, heartbeatSeconds: 10, retentionSeconds: 365 * day };
const settings: Readonly<Record<JobKind, Omit<Queue, 'name' | 'deadLetter'>>> = {
  // One waits for each key; one that comes while another runs waits, and runs after it. A job that
  // is done stays for longer than platforms send a webhook again, so that it is known.
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

/** Looked for this often by each instance; what it has stored itself it begins at once. Seconds. */
const pollingIntervalSeconds = 5;
const superviseIntervalSeconds = 10;
/** Of one queue, in one instance. */
const atOnce = 2;
const stopMilliseconds = 5_000;

type Handler = (job: Job, signal: AbortSignal) => Promise<void>;

/** Jobs in the database: each is done once, or shows as failed. */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #log: Log;
  /** By their queue. */
  readonly #workers = new Map<string, string[]>();

  private constructor(boss: PgBoss, log: Log) {
    this.#boss = boss;
    this.#log = log;
  }

  /** Brings the library's tables up to date, too. */
  static async open(
    sql: Sql,
    log: Log,
    queues: readonly Readonly<Record<JobKind, string>>[],
  ): Promise<JobQueue> {
    const boss = new PgBoss({
      db: jobDatabase(sql),
      schema: 'jobs',
      // Nothing recurs, and rebuilding indexes is the database's owner's business.
      schedule: false,
      reindex: false,
      monitorVacuum: false,
      persistWarnings: false,
      superviseIntervalSeconds,
      monitorIntervalSeconds: superviseIntervalSeconds,
    });
    boss.on('error', (err) => log.error({ err }, 'the queue of webhooks failed'));
    boss.on('warning', (warning) => log.warn({ warning }, 'the queue of webhooks warns'));
    await boss.start();
    for (const kind of jobKinds) {
      const { policy: _policy, ...rest } = settings[kind];
      for (const { [kind]: name } of queues) {
        await boss.createQueue(name, settings[kind]);
        await boss.updateQueue(name, rest);
      }
    }
    return new JobQueue(boss, log);
  }

  /**
   * Stores a job, in one statement; it is begun soon. A webhook that is known changes nothing.
   * @param key of those that are one and the same while they wait
   */
  async send(queue: string, job: Job, key: string): Promise<void> {
    await this.#boss.send(queue, job, { id: job.event, singletonKey: key });
    this.#wake(queue);
  }

  /** Runs jobs, a few at a time. */
  async work(queue: string, kind: JobKind, handle: Handler): Promise<void> {
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
          // It may hold an id that had to be forgotten. Done again, it would change nothing.
          if (kind === 'duties') await this.#boss.deleteJob(queue, id);
          return [{ id, status: 'completed' as const }];
        } catch (err) {
          const isFinal = err instanceof NonRetryableError;
          const status = isFinal ? ('deadletter' as const) : ('failed' as const);
          this.#log.error(
            { err, shopId, topic, retryCount, job: id },
            'a webhook was not followed',
          );
          return [{ id, status, output: { reason: (err as Error).message } }];
        } finally {
          // After one there may be more.
          this.#wake(queue);
        }
      });
    this.#workers.set(queue, await Promise.all(Array.from({ length: atOnce }, work)));
  }

  /** Has the workers look for jobs once they are free. */
  #wake(queue: string): void {
    for (const worker of this.#workers.get(queue) ?? []) this.#boss.notifyWorker(worker);
  }

  /** Lets jobs under way come to their end; what takes longer goes back, and is begun again. */
  async close(): Promise<void> {
    await this.#boss.stop({ close: false, graceful: true, timeout: stopMilliseconds });
  }
}

/** The same for the same words: an id for what has none that the database could take. */
export function idOf(...words: readonly string[]): string {
  const digits = hash('sha256', JSON.stringify(words)).slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
