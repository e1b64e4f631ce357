import { hash } from 'node:crypto';
import { PgBoss, type Queue } from 'pg-boss';
import type { Log } from '../log.ts';
import type { Sql } from '../store/database.ts';
import { jobDatabase } from '../store/feeds/job-database.ts';
import type { Duty, Hint } from './shopify/webhooks/topics.ts';

/** What is known of the webhook besides its task. */
export interface Facts {
  readonly shopId: number;
  /** A UUID: the same where the webhook is sent again; for what destroys it is made of the signed body. */
  readonly event: string;
  /** As the webhook named it. */
  readonly topic: string;
  /** When it came, ISO 8601. */
  readonly receivedAt: string;
}

export type Job<Task> = Task & Facts;

/** The queues' names in the database, with what they hold. */
export interface Queued {
  readonly hints: Job<Hint>;
  readonly duties: Job<Duty>;
}
export type QueueName = keyof Queued;

const hour = 3600;
const day = 24 * hour;

/** Seconds. What an instance has begun and left is begun again elsewhere once its heartbeat is missed. */
const common = { retryBackoff: true, heartbeatSeconds: 10, retentionSeconds: 365 * day };
const settings: Readonly<Record<QueueName, Omit<Queue, 'name' | 'deadLetter'>>> = {
  // One waits for each contract; one that comes while another runs waits, and runs after it. A job that
  // is done stays for longer than Shopify sends a webhook again (four hours), so that it is known.
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
const queueNames = Object.keys(settings) as QueueName[];

/** Looked for this often by each instance; what it has stored itself it begins at once. Seconds. */
const pollingIntervalSeconds = 5;
const superviseIntervalSeconds = 10;
/** Of one queue, in one instance. */
const atOnce = 2;
const stopMilliseconds = 5_000;

/** It cannot be done, however often it is tried. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless';
}

type Handler<Name extends QueueName> = (job: Queued[Name], signal: AbortSignal) => Promise<void>;

/** The jobs that follow webhooks, in the database: whatever is in it is done once, or shows as failed. */
export class WebhookQueue {
  readonly #boss: PgBoss;
  readonly #log: Log;
  /** By their queue. */
  readonly #workers: Record<QueueName, string[]> = { hints: [], duties: [] };

  private constructor(boss: PgBoss, log: Log) {
    this.#boss = boss;
    this.#log = log;
  }

  /** Brings the library's tables up to date, too. */
  static async open(sql: Sql, log: Log): Promise<WebhookQueue> {
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
    for (const name of queueNames) {
      const { policy: _policy, ...rest } = settings[name];
      await boss.createQueue(name, settings[name]);
      await boss.updateQueue(name, rest);
    }
    return new WebhookQueue(boss, log);
  }

  /**
   * Stores a job, in one statement; it is begun soon. A webhook that is known changes nothing.
   * @param key of those that are one and the same while they wait
   */
  async send<Name extends QueueName>(name: Name, job: Queued[Name], key: string): Promise<void> {
    await this.#boss.send(name, job, { id: job.event, singletonKey: key });
    this.#wake(name);
  }

  /** Begins jobs, a few at a time. */
  async work<Name extends QueueName>(name: Name, handle: Handler<Name>): Promise<void> {
    const options = {
      batchSize: 1,
      pollingIntervalSeconds,
      perJobResults: true,
    } as const;
    const work = () =>
      this.#boss.work<Queued[Name], undefined, typeof options>(name, options, async ([job]) => {
        if (!job) return [];
        const { id, data, signal, retryCount } = job;
        const { shopId, topic } = data;
        try {
          await handle(data, signal);
          // It may hold a number that was to be forgotten. Done again, it would change nothing.
          if (name === 'duties') await this.#boss.deleteJob(name, id);
          return [{ id, status: 'completed' as const }];
        } catch (err) {
          const status = err instanceof Hopeless ? ('deadletter' as const) : ('failed' as const);
          this.#log.error(
            { err, shopId, topic, retryCount, job: id },
            'a webhook was not followed',
          );
          return [{ id, status, output: { reason: (err as Error).message } }];
        } finally {
          // Where there was one, there may be more.
          this.#wake(name);
        }
      });
    while (this.#workers[name].length < atOnce) this.#workers[name].push(await work());
  }

  /** Has the workers look for jobs once they are free. */
  #wake(name: QueueName): void {
    for (const worker of this.#workers[name]) this.#boss.notifyWorker(worker);
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
