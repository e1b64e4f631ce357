import type { Actor } from '../acts.ts';
import type { Clock } from '../clock.ts';
import type { PlatformSettings } from '../config/platform-config.ts';
import type { ImportShop } from '../ingest/apply.ts';
import type { LineSource } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { RecordType } from '../records/records.ts';
import type { Log } from '../log/log.ts';
import type { Sql, Transaction } from '../store/database.ts';
import type { Shop } from '../store/shops.ts';
import type { RecordKind } from '../store/records/export-dates.ts';
import type { Intake } from './intake.ts';
import type { Backoff } from './backoff.ts';
import type { Queues, WebhookContext, Webhooks } from './webhooks/webhooks.ts';

/**
 * A system on which merchants sell subscriptions, and whose data a shop can follow. This
 * description is always loaded; `load` imports the code that talks to the platform only when it is
 * needed.
 */
export interface Platform {
  /** As in `sync shopify`, `import --from shopify` and `/webhooks/shopify`. Lower case. */
  readonly name: string;
  /** Display name. */
  readonly title: string;
  /** The environment variables that configure it. */
  readonly settings: PlatformSettings;
  /** Credentials as `platforms connect` reads them, for its help. */
  readonly examples: readonly string[];
  /** The fields of each shop in its credentials file, besides `shop`. */
  readonly credentialFields: CredentialFields;
  /** Sets of these fields, of which an entry must have exactly one; left out if there is no choice. */
  readonly credentialKinds?: readonly (readonly string[])[];
  /** What an owner pastes to connect a shop; left out if the platform asks its owner itself, or only the operator can. */
  readonly form?: ConnectForm;
  /** The shop's name at the platform. */
  accountOf(credentials: Credentials): string;
  /** Whether several shops may have the same account; `currencies`: each has its own currency of it. */
  readonly sharesAccounts?: true | 'currencies';
  /** Replaces what given credentials refer to on this machine, such as files. For the operator only. */
  readReferences?(given: Given): Promise<Given>;
  /** Its webhooks; left out if it sends none. */
  readonly webhooks?: {
    /** The names of its job queues in the database. */
    readonly queues: Queues;
    open(context: WebhookContext): Promise<Webhooks>;
  };
  /** Its webhooks that come to the push door, signed by its scheme there; left out if none do. */
  readonly pushed?: {
    /** The name of their job queue in the database. */
    readonly queue: string;
    /** What a message is about, with its id; undefined if it changes no record. */
    readHint(message: unknown): Promise<(Hint & { readonly event: string }) | undefined>;
  };
  /** Reads its export files; left out if it has none. */
  readonly openFiles?: () => Promise<FileReader>;
  /**
   * What of a shop belongs to it, by a sync that was completed; otherwise undefined. Each import asks, so it loads no
   * more than that.
   */
  findBelonging(sql: Sql, shopId: number): Promise<Belonging | undefined>;
  /** The platform's id of a record; undefined if it cannot be computed from ours. */
  sourceIdOf(kind: RecordKind, id: number): string | undefined;
  /**
   * Where people look at a record in the platform's own administration; undefined if it has no page for it. Left out if
   * it has none for any.
   * @param sourceId the platform's id, or any other text
   * @param account as `accountOf` says; undefined if the shop does not follow it
   */
  pageOf?(kind: RecordKind, sourceId: string, account: string | undefined): string | undefined;
  /** Commands that only this platform has: `shopify retry`. */
  readonly loadCommands?: () => Promise<readonly ShopCommand[]>;
  load(): Promise<PlatformCode>;
}

/** A command about one shop. */
export interface ShopCommand<Result = unknown> {
  /** The word after the platform's name. */
  readonly name: string;
  readonly about: string;
  readonly notes?: readonly string[];
  /** Whether it is about one of the shop's customers. */
  readonly isOfCustomer?: true;
  /** @throws CommandError */
  run(parts: ShopCommandParts): Promise<Result>;
  /** The result for people, as a text or as lines of a table, heads first; without it, as JSON. */
  show?(result: Result): string | readonly (readonly (string | number | Date)[])[];
}

interface ShopCommandParts {
  readonly sql: Sql;
  readonly shop: Shop;
  /** 0 unless the command is about one. */
  readonly customer: number;
  readonly at: Date;
  readonly log: Log;
  /** The command. */
  readonly actor: Actor;
  /** Runs a transaction that revokes keys. @returns once no instance accepts them */
  revoke<Revoked>(work: (tx: Transaction) => Promise<Revoked>): Promise<Revoked>;
}

/** How an owner connects a shop by pasting what lets us in. */
export interface ConnectForm {
  /** What connecting brings, in a sentence or two. */
  readonly about: string;
  /** What to do at the platform first. */
  readonly steps: readonly string[];
  /** Of its credentials; each says there what is expected. */
  readonly fields: readonly FormField[];
  /** What the secret is called where it is replaced: "key", "password". */
  readonly secretName: string;
  /** Whether its owner sees what would be stored, and starts it then; for what takes minutes to read. */
  readonly isPreviewed?: boolean;
}

interface FormField {
  /** As in the credentials. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** Never shown again; left empty, it stays what it was. */
  readonly isSecret?: boolean;
  /** JSON for developers, which `suggest` makes if it is left empty. */
  readonly isJson?: boolean;
}

/** Converts export files to lines of records. */
type FileReader = (
  files: readonly LineSource[],
  shop: ImportShop,
  progress: (lines: number) => void,
) => AsyncIterable<readonly Line[]>;

/** One field of a credentials file. */
export interface CredentialField {
  /** Completes "must be …". */
  readonly expected: string;
  /** No two shops may have the same. */
  readonly isUnique?: boolean;
  fits(value: unknown): boolean;
  /** What is wrong inside a value that fits otherwise; each completes the field's name to a sentence. */
  problemsOf?(value: unknown): Promise<readonly string[]>;
}
type CredentialFields = Readonly<Record<string, CredentialField>>;

/** The part of a platform that is loaded on demand. */
export interface PlatformCode {
  /**
   * Asks the platform whose credentials these are, and adds what `accountOf` needs. The account is then fixed for the
   * connection. Left out if credentials name it.
   * @throws CommandError as `verify`
   */
  identify?(
    credentials: Credentials,
    parts: { readonly baseUrl: string | undefined; readonly context: ConnectContext },
  ): Promise<Credentials>;
  /** Keep one per shop where possible: it remembers the platform's rate limits. */
  connect(shop: ConnectedShop, context: ConnectContext): Connection;
  /**
   * Asks the platform whether it accepts a shop's credentials, and whether they suffice.
   * @throws CommandError if not, in one sentence that says what to do
   */
  verify(shop: ConnectedShop, currency: string, context: ConnectContext): Promise<void>;
  /**
   * Looks at what there is to follow, for the credentials that only say where that is; left out if there is no choice.
   * @param currency of the shop; by default that of the data
   * @throws CommandError that says what was looked for, if there is nothing
   */
  suggest?(given: Given, currency: string | undefined, context: ConnectContext): Promise<Suggested>;
  /** How a shop's owner can connect it at the platform. */
  readonly authorization?: Authorization;
  /** What a sync with these credentials reads, in the order in which owners read it. */
  partsOf?(credentials: Credentials): Promise<readonly SourcePart[]>;
  /** Notes that a shop was connected. */
  noteConnected?(tx: Transaction, shopId: number, account: string, at: Date): Promise<void>;
  /** Notes that a shop was disconnected, so that it no longer belongs to the platform. */
  noteDisconnected?(tx: Transaction, shopId: number): Promise<void>;
  /** Why following a shop is paused, and what to do about it; undefined if it is not paused. */
  findPause?(sql: Sql, shopId: number): Promise<string | undefined>;
}

/** A part of what a platform has, such as a table. */
export interface SourcePart {
  readonly name: string;
  /** The types of records that it makes. */
  readonly types: readonly RecordType[];
  /** How it is read, such as "changes, by updated_at". */
  readonly reads: string;
  /** The columns that identify its rows, if they have any. */
  readonly key?: readonly string[];
  /** Whether it has subscriptions without prices. */
  readonly isUnpriced?: boolean;
}

/** Credentials of which something may be missing. */
type Given = Readonly<Record<string, unknown>>;

/** What a platform found that a shop can follow. */
export interface Suggested {
  /** Whose data it is; undefined if that was not recognised. */
  readonly preset?: { readonly name: string; readonly title: string };
  /** The missing credentials. */
  readonly fields: Given;
  /** The same as JSON, with comments on what is unsure. */
  readonly texts: Readonly<Record<string, string>>;
  /** What somebody should know or check. */
  readonly notes: readonly string[];
}

export interface Belonging {
  /** The shop's name at the platform. */
  readonly account: string;
  /** The types of records that its sync brings, and that are not to come from elsewhere too. No two platforms have one. */
  readonly types: readonly RecordType[];
}

export interface ConnectContext {
  /** The service's own identity at the platform; undefined if it is not configured. */
  readonly app: PlatformApp | undefined;
  /** Where the platform can send webhooks; undefined if it cannot. */
  readonly webhookAddress?: string | undefined;
  /** Internal networks in which a merchant's database may lie; by default none. */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** The part of the platform's rate limit that we may use, more than 0; by default all of it. */
  readonly pointsShare?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Tests replace it. */
  readonly backoff?: Backoff;
}

/** A way by which a shop's owner lets us read the shop: at the platform, and back here with a code. */
export interface Authorization {
  /** What we ask to read, in words for the owner. */
  readonly scopes: readonly string[];
  /** The field in which the owner names the shop. */
  readonly accountLabel: string;
  /** An example, and where the owner finds it. */
  readonly accountHint: string;
  /** What to do about a text that `parseAccount` refuses. */
  readonly accountProblem: string;
  /** @returns undefined if no shop can be named so */
  parseAccount(text: string): string | undefined;
  /** Where the owner agrees. */
  addressOf(request: {
    readonly account: string;
    readonly baseUrl: string | undefined;
    readonly app: PlatformApp;
    /** Where the platform sends the owner back to. */
    readonly redirectUri: string;
    /** Comes back with them. */
    readonly state: string;
  }): string;
  /**
   * Reads what the platform sends the owner back with.
   * @param query as it is in the address
   * @param secrets it may be signed with any of them
   * @returns undefined if the platform did not sign it
   */
  readAnswer(query: string, secrets: readonly string[]): AuthorizationAnswer | undefined;
  /**
   * Exchanges the code for credentials.
   * @throws PlatformError
   */
  exchange(
    answer: Omit<AuthorizationAnswer, 'state'> & {
      readonly shop: number;
      readonly baseUrl: string | undefined;
    },
    context: ConnectContext,
  ): Promise<Credentials>;
}

interface AuthorizationAnswer {
  readonly account: string;
  readonly code: string;
  readonly state: string;
}

/** The service as an app of a platform. */
export interface PlatformApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** One shop on a platform. */
export interface Connection {
  /** The shop's name on the platform. */
  readonly account: string;
  /** Counters of the requests so far, for the log. */
  usage(): Readonly<Record<string, number>>;
  /**
   * Fetches what changed, or everything the first time and whenever a full sync is due.
   * @throws PlatformError
   * @throws CommandError if the shop has data from another source
   */
  sync(intake: Intake, options: SyncOptions): Promise<SyncReport>;
  /**
   * Fetches the current state of what a webhook was about, and stores it; left out if there are no webhooks.
   * @returns how many records were refused
   */
  follow?(intake: Intake, hint: Hint): Promise<number>;
}

export interface SyncOptions {
  /** Fetch everything, even if only changes are due. */
  readonly full: boolean;
  /** Whether data that did not come from this account may be replaced and deleted. */
  readonly takeOver: boolean;
}

export interface SyncReport {
  /** As it appears in the log; `whole` is a full sync, `payments` changes with all new payments. */
  readonly kind: 'whole' | 'payments' | 'changes';
  /** How many were read, in the platform's own terms: `{ contracts: 12 }`. */
  readonly read: Readonly<Record<string, number>>;
  readonly written: number;
  readonly refused: number;
  readonly deleted: number;
}

/** What to fetch again after a webhook. */
export interface Hint {
  readonly kind: string;
  readonly id: number | string;
  /** When it changed, in seconds, if the platform says so only here. */
  readonly at?: number;
}

/** How the service signs in to a platform for one shop. The platform defines the other fields. */
export interface Credentials {
  /** The shop's id here. */
  readonly shop: number;
  readonly [field: string]: unknown;
}

/** Where a shop's credentials are kept. They may change while they are in use. */
export interface CredentialSource {
  /**
   * Reads them as they are now.
   * @throws CommandError if they are gone, or cannot be read
   */
  read(): Promise<Credentials>;
  /**
   * Replaces credentials that are about to end. Of all processes only one asks the platform at a time; the others
   * wait, and get what it was given. What the platform gave is stored before anything can use it.
   * @param stale the credentials to replace; if they were replaced in the meantime, nothing is asked
   * @param ask asks the platform; it may be asked again by another process if this one dies
   * @param signal ends the wait for another process; its reason is thrown
   * @throws CommandError if what the platform gives cannot be stored here
   */
  renew(
    stale: Credentials,
    ask: (stale: Credentials) => Promise<Credentials>,
    signal?: AbortSignal,
  ): Promise<Credentials>;
}

/** A shop that is connected to a platform. */
export interface ConnectedShop {
  readonly shop: number;
  /** The shop's name at the platform. */
  readonly account: string;
  /** Replaces the platform's address; undefined for the platform itself. */
  readonly baseUrl: string | undefined;
  /** When; unknown if the operator did, in the credentials file. */
  readonly connectedAt?: Date;
  /** Who connected it: the operator, in the credentials file, or the shop, in the database. */
  readonly origin: 'file' | 'database';
  /** Changes when the shop is connected anew, or its entry in the file changes, but not when credentials are renewed. */
  readonly version: string;
  readonly credentials: CredentialSource;
  /** Whether its owner has yet to start the sync, and what was found meanwhile, as JSON. */
  readonly draft?: string | null;
}
