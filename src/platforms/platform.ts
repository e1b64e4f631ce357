import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { PlatformSettings } from '../config.ts';
import type { ImportShop } from '../ingest/apply.ts';
import type { LineSource } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { Log } from '../log/log.ts';
import type { Sql, Transaction } from '../store/database.ts';
import type { RecordKind } from '../store/records/source-ids.ts';
import type { Intake } from './intake.ts';
import type { Job, JobKind } from './webhooks/job.ts';
import type { JobQueue } from './webhooks/queue.ts';

/**
 * A system that merchants sell subscriptions on, and whose data a shop here can follow. This part is loaded by
 * whatever lists the platforms; `load` brings the code that talks to one.
 */
export interface Platform {
  /** As in `sync shopify`, `import --from shopify` and `/webhooks/shopify`. Lower case. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The variables that it is configured by. */
  readonly settings: PlatformSettings;
  /** What its credentials file says of each shop, besides the shop's id here. */
  readonly credentialFields: CredentialFields;
  /** The names of its jobs' queues in the database. */
  readonly queues: Readonly<Record<JobKind, string>>;
  /** The platform's own id of a record, if ours is made from it without loss; undefined if it is not. */
  sourceIdOf(kind: RecordKind, id: number): string | undefined;
  load(): Promise<PlatformCode>;
}

/** One field of a credentials file. */
interface CredentialField {
  /** Completes "must be …". */
  readonly want: string;
  /** No two shops may have the same. */
  readonly isUnique?: boolean;
  fits(value: unknown): boolean;
}
type CredentialFields = Readonly<Record<string, CredentialField>>;

/** How the service signs in to a platform for one shop; the other fields are the platform's. */
export interface Credentials {
  /** The shop's id here. */
  readonly shop: number;
  readonly [field: string]: unknown;
}

/** What a platform does, once it is needed. */
export interface PlatformCode {
  /** Records from its export files, as lines. */
  readFiles(
    files: readonly LineSource[],
    shop: ImportShop,
    progress: (lines: number) => void,
  ): AsyncIterable<readonly Line[]>;
  /** One for each shop and process: what it learns about the platform's limits stays. */
  connect(credentials: Credentials, context: ConnectContext): Connection;
  /** Why a shop is not followed at present, and what to do about it; undefined if it is. */
  findPause(sql: Sql, shopId: number): Promise<string | undefined>;
  openWebhooks(context: WebhookContext): Promise<Webhooks>;
  /** Deletes what it keeps of a shop in tables of its own. */
  forgetShop(tx: Transaction, shopId: number): Promise<void>;
}

export interface ConnectContext {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends whatever is in progress, with its reason. */
  readonly signal?: AbortSignal;
}

/** One shop on a platform. */
export interface Connection {
  /** The shop's name there. */
  readonly account: string;
  /** What was requested of the platform so far, by name, for the log. */
  usage(): Readonly<Record<string, number>>;
  /**
   * Brings what changed, or everything the first time and where that is due.
   * @throws PlatformError
   * @throws CommandError if the shop has data from elsewhere
   */
  sync(intake: Intake, options: SyncOptions): Promise<SyncReport>;
  /**
   * Fetches what a webhook was about, and stores it.
   * @returns how many records were refused
   */
  follow(intake: Intake, hint: Hint): Promise<number>;
}

export interface SyncOptions {
  /** Everything, even if only changes are due. */
  readonly whole: boolean;
  /** Whether data that did not come from this account may be replaced and deleted. */
  readonly takeOver: boolean;
}

export interface SyncReport {
  readonly kind: 'whole' | 'changes';
  /** How many were read, under the platform's own word for them: `{ contracts: 12 }`. */
  readonly read: Readonly<Record<string, number>>;
  readonly written: number;
  readonly refused: number;
  readonly deleted: number;
}

/** What to fetch again. */
export interface Hint {
  readonly kind: string;
  readonly id: number;
}

export interface WebhookContext {
  /** Any of them may have signed. */
  readonly secrets: readonly string[];
  readonly credentials: readonly Credentials[];
  /** The jobs' own connections. */
  readonly sql: Sql;
  readonly queue: JobQueue;
  /** The names of the platform's own queues. */
  readonly queues: Platform['queues'];
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Removes a shop with all that is kept of it, on every platform.
   * @param check begins each of its transactions; what it throws stops the deletion there
   */
  deleteShop(shopId: number, check: (tx: Transaction) => Promise<void>): Promise<void>;
}

/** The webhooks of one platform. */
export interface Webhooks {
  /** Undefined if the request carries no signature. */
  openSignature(headers: IncomingHttpHeaders): SignatureCheck | undefined;
  /**
   * Acts on a verified webhook: stores its job, or does at once what cannot wait.
   * @returns whether it was accepted; a malformed one is refused with 400
   */
  take(webhook: ReceivedWebhook): Promise<'accepted' | 'malformed'>;
  /** Does a duty. Done again, it changes nothing. */
  doDuty(duty: Job): Promise<void>;
}

/** Verifies a body while it arrives. */
export interface SignatureCheck {
  update(part: Buffer): void;
  /** Whether all parts together carry the signature. Can be asked once. */
  matches(): boolean;
}

export interface ReceivedWebhook {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
