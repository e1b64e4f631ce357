import { EntitlementCache, type EntitlementCacheOptions } from './entitlement-cache.ts';
import { Listing } from './pages.ts';
import {
  type Answered,
  type Call,
  type Hooks,
  type Sender,
  send,
  unlessAborted,
} from './request.ts';
import type {
  CancellationPage,
  CancellationSession,
  EntitlementEntry,
  EntitlementsResponse,
  ListCancellationsParameters,
  ListSubscriptionsParameters,
  MetricsSummary,
  MetricsSummaryResponse,
  SellingPlan,
  SellingPlansResponse,
  Subscription,
  SubscriptionDetail,
  SubscriptionPage,
  SubscriptionResponse,
} from './types.ts';

export interface RetentionOptions {
  /** The service's root, such as https://retention.example. */
  readonly baseUrl: string;
  /** An API key of the shop, `rtn_…`. It belongs on servers only. Undefined is refused when the program starts. */
  readonly key: string | undefined;
  /** How long an attempt may take, until the end of the answer. 10,000 by default. */
  readonly timeoutMs?: number;
  /** Attempts after the first, if it fails in a way that may pass. 3 by default. */
  readonly maxRetries?: number;
  /** How `entitled` keeps answers. */
  readonly cache?: EntitlementCacheOptions;
  readonly hooks?: Hooks;
  /** Sends the requests; the runtime's own by default. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, and what it waits for. */
  readonly signal?: AbortSignal | undefined;
}

export interface EntitledOptions extends CallOptions {
  /** Only these plans count; all by default. */
  readonly planIds?: readonly number[] | undefined;
}

/** A client of the Retention Data Service. All calls may be repeated; failures are a RetentionError. */
export class Retention {
  readonly #sender: Sender;
  readonly #cache: EntitlementCache;

  /** @throws TypeError for options that cannot work, Error in a browser */
  constructor(options: RetentionOptions) {
    refuseBrowsers();
    this.#sender = toSender(options);
    this.#cache = new EntitlementCache(async (customerId, retries) => {
      const { body, askedAt } = await this.#send(entitlementsCall(customerId, { retries }));
      return { entries: (body as unknown as EntitlementsResponse).subscriptions, askedAt };
    }, options.cache);
  }

  /** Every subscription of a customer, with whether it entitles now, by id. An unknown customer has none. */
  async getEntitlements(
    customerId: number,
    { signal }: CallOptions = {},
  ): Promise<readonly EntitlementEntry[]> {
    const call = entitlementsCall(customerId, { signal });
    return (await this.#get<EntitlementsResponse>(call)).subscriptions;
  }

  /**
   * Whether a customer is entitled now. Answers are kept as `cache` says, one request is under way per customer, and
   * while the service cannot be reached the last answer holds as `cache` says.
   * @throws UnavailableError, RateLimitError if no answer holds; it is never false for want of one
   */
  async entitled(customerId: number, { planIds, signal }: EntitledOptions = {}): Promise<boolean> {
    // Only the waiting ends with the signal: others may be waiting for the same answer.
    return unlessAborted(this.#cache.isEntitled(customerId, planIds), signal);
  }

  /** Makes `entitled` ask anew about a customer, for example after a purchase. */
  forget(customerId: number): void {
    this.#cache.forget(customerId);
  }

  /** The shop's subscriptions, newest first, read page by page while they are walked. */
  listSubscriptions(
    { cursor, ...parameters }: ListSubscriptionsParameters = {},
    { signal }: CallOptions = {},
  ): Listing<Subscription> {
    return new Listing(async (after) => {
      const path = `/subscriptions${queryOf({ limit: 100, ...parameters, cursor: after })}`;
      const call = { operation: 'listSubscriptions', path, field: 'subscriptions', signal };
      const page = await this.#get<SubscriptionPage>(call);
      return { entries: page.subscriptions, nextCursor: page.nextCursor };
    }, cursor);
  }

  /** @throws NotFoundError if the shop has no such subscription */
  async getSubscription(
    subscriptionId: number,
    { signal }: CallOptions = {},
  ): Promise<SubscriptionDetail> {
    const path = `/subscriptions/${idText(subscriptionId, 'subscriptionId')}`;
    const call = { operation: 'getSubscription', path, field: 'subscription', signal };
    return (await this.#get<SubscriptionResponse>(call)).subscription;
  }

  /** The shop's figures now. */
  async getMetricsSummary({ signal }: CallOptions = {}): Promise<MetricsSummary> {
    const path = '/metrics/summary';
    const call = { operation: 'getMetricsSummary', path, field: 'summary', signal };
    return (await this.#get<MetricsSummaryResponse>(call)).summary;
  }

  /** The plans that the shop sells, by id. */
  async listPlans({ signal }: CallOptions = {}): Promise<readonly SellingPlan[]> {
    const call = { operation: 'listPlans', path: '/plans', field: 'plans', signal };
    return (await this.#get<SellingPlansResponse>(call)).plans;
  }

  /** The sessions of the cancel flow, newest first, read page by page while they are walked. */
  listCancellations(
    { cursor, ...parameters }: ListCancellationsParameters = {},
    { signal }: CallOptions = {},
  ): Listing<CancellationSession> {
    return new Listing(async (after) => {
      const path = `/cancellations${queryOf({ limit: 100, ...parameters, cursor: after })}`;
      const call = { operation: 'listCancellations', path, field: 'cancellations', signal };
      const page = await this.#get<CancellationPage>(call);
      return { entries: page.cancellations, nextCursor: page.nextCursor };
    }, cursor);
  }

  async #get<Body>(call: Call): Promise<Body> {
    return (await this.#send(call)).body as Body;
  }

  #send(call: Call): Promise<Answered> {
    return send(this.#sender, { ...call, path: `/api/external/v1${call.path}` });
  }
}

function entitlementsCall(customerId: number, options: Pick<Call, 'signal' | 'retries'>): Call {
  const path = `/entitlements?customerId=${idText(customerId, 'customerId')}`;
  return { operation: 'getEntitlements', path, field: 'subscriptions', ...options };
}

function toSender(options: RetentionOptions): Sender {
  const { baseUrl, key, timeoutMs = 10_000, maxRetries = 3, hooks = {} } = options;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username !== '') {
    throw new TypeError(
      `baseUrl must be the service's address, such as https://retention.example; it is ${JSON.stringify(baseUrl)}.`,
    );
  }
  // Never quoted: it is a secret.
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('key must be an API key such as rtn_…. Is its environment variable set?');
  }
  // A timer takes no more; it would fire at once.
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw new TypeError('timeoutMs must be more than 0 and less than 2^31.');
  }
  if (!Number.isSafeInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError('maxRetries must be a whole number, 0 or more.');
  }
  return {
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    baseUrl: url.href.replace(/\/+$/, ''),
    key,
    timeoutMs,
    maxRetries,
    hooks,
  };
}

/** Digits; numbers that JavaScript cannot hold exactly would name another record. */
function idText(id: number, name: string): string {
  if (!Number.isSafeInteger(id) || id < 1) {
    throw new TypeError(
      `${name} must be a whole number from 1 to 2^53 - 1; it is ${String(id)}. For a customer's text at the source, there is customerIdOf.`,
    );
  }
  return String(id);
}

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `?${query}`;
}

function refuseBrowsers(): void {
  const { process, document, importScripts, navigator } = globalThis as {
    process?: { readonly versions?: { readonly node?: string } };
    document?: unknown;
    importScripts?: unknown;
    navigator?: { readonly product?: string };
  };
  // Test environments imitate a browser inside Node.js.
  if (process?.versions?.node) return;
  const isPage = document !== undefined || importScripts !== undefined;
  if (!isPage && navigator?.product !== 'ReactNative') return;
  throw new Error(
    '@retention/client must not run in a browser or an app: everyone who has the page or the app could read the API key. Call the service from your server, and send only what is needed.',
  );
}
