import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import type { Job, JobKind, JobQueue } from './queue.ts';

/** The names of a platform's job queues. */
export type Queues = Readonly<Record<JobKind, string>>;

export interface WebhookContext {
  /** Webhooks may be signed with any of them. */
  readonly secrets: readonly string[];
  /** Finds the shop that is connected by the platform's name of it. */
  findConnected(account: string): Promise<number | undefined>;
  /** Connections reserved for jobs. */
  readonly sql: Sql;
  readonly queue: JobQueue;
  /** The names of the platform's own queues. */
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Deletes a shop and everything stored about it, for every platform.
   * @param check runs first in each transaction; the deletion stops if it throws
   */
  deleteShop(shopId: number, check: (tx: Transaction) => Promise<void>): Promise<void>;
}

/** The webhooks of one platform. */
export interface Webhooks {
  /** Undefined if the request carries no signature. */
  readClaim(headers: IncomingHttpHeaders): WebhookClaim | undefined;
  /**
   * Handles a verified webhook: stores a job, or acts at once where that cannot wait.
   * @returns `malformed` to have it answered with 400
   */
  handle(webhook: ReceivedWebhook): Promise<'accepted' | 'malformed'>;
  /** Performs a duty. Must be idempotent. */
  doDuty(duty: Job): Promise<void>;
}

/** What a webhook says of itself before its body arrives. */
export interface WebhookClaim {
  /** The platform's name of the shop; empty if it has none. Its signature need not cover that. */
  readonly account: string;
  isSigned(body: Buffer): boolean;
}

export interface ReceivedWebhook {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
