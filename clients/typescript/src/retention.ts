import { EntitlementCache, type EntitlementCacheOptions } from './entitlement-cache.ts';
import { Listing } from './pages.ts';
import { type Hooks, type Sender, send } from './request.ts';
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

export interface EntitledOptions {
  /** Only these plans count; all by default. */
  readonly planIds?: readonly number[];
}

/** A client of the Retention Data Service. All calls may be repeated; failures are a RetentionError. */
export class Retention {
  readonly #sender: Sender;
  readonly #cache: EntitlementCache;

  /** @throws TypeError for options that cannot work, Error in a browser */
  constructor(options: RetentionOptions) {
    refuseBrowsers();
    this.#sender = toSender(options);
    this.#cache = new EntitlementCache((id) => this.getEntitlements(id), options.cache);
  }

  /** Every subscription of a customer, with whether it entitles now, by id. An unknown customer has none. */
  async getEntitlements(
    customerId: number,
    { signal }: CallOptions = {},
  ): Promise<readonly EntitlementEntry[]> {
    const query = new URLSearchParams({ customerId: idText(customerId, 'customerId') });
    const path = `/entitlements?${query}`;
    const body = await this.#get<EntitlementsResponse>('getEntitlements', path, signal);
    return body.subscriptions;
  }

  /**
   * Whether a customer is entitled now. Answers are kept as `cache` says, one request is under way per customer, and
   * while the service cannot be reached earlier answers count as `cache` says.
   * @throws UnavailableError, RateLimitError if no answer counts; never false for want of one
   */
  async entitled(customerId: number, { planIds }: EntitledOptions = {}): Promise<boolean> {
    const entries = await this.#cache.entitlingEntries(customerId);
    return entries.some(({ planId }) => planIds === undefined || planIds.includes(planId));
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
      const page = await this.#get<SubscriptionPage>('listSubscriptions', path, signal);
      return { entries: page.subscriptions, nextCursor: page.nextCursor };
    }, cursor);
  }

  /** @throws NotFoundError if the shop has no such subscription */
  async getSubscription(
    subscriptionId: number,
    { signal }: CallOptions = {},
  ): Promise<SubscriptionDetail> {
    const path = `/subscriptions/${idText(subscriptionId, 'subscriptionId')}`;
    return (await this.#get<SubscriptionResponse>('getSubscription', path, signal)).subscription;
  }

  /** The shop's figures now. */
  async getMetricsSummary({ signal }: CallOptions = {}): Promise<MetricsSummary> {
    const path = '/metrics/summary';
    return (await this.#get<MetricsSummaryResponse>('getMetricsSummary', path, signal)).summary;
  }

  /** The plans that the shop sells, by id. */
  async listPlans({ signal }: CallOptions = {}): Promise<readonly SellingPlan[]> {
    return (await this.#get<SellingPlansResponse>('listPlans', '/plans', signal)).plans;
  }

  /** The sessions of the cancel flow, newest first, read page by page while they are walked. */
  listCancellations(
    { cursor, ...parameters }: ListCancellationsParameters = {},
    { signal }: CallOptions = {},
  ): Listing<CancellationSession> {
    return new Listing(async (after) => {
      const path = `/cancellations${queryOf({ limit: 100, ...parameters, cursor: after })}`;
      const page = await this.#get<CancellationPage>('listCancellations', path, signal);
      return { entries: page.cancellations, nextCursor: page.nextCursor };
    }, cursor);
  }

  async #get<Body>(
    operation: string,
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<Body> {
    return (await send(this.#sender, operation, `/api/external/v1${path}`, signal)) as Body;
  }
}

function toSender(options: RetentionOptions): Sender {
  const { baseUrl, key, timeoutMs = 10_000, maxRetries = 3, hooks = {} } = options;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.username !== '') {
    throw new TypeError(
      `baseUrl must be the service's address, such as https://retention.example; it is ${JSON.stringify(baseUrl)}.`,
    );
  }
  // Never quoted: it is a secret.
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('key must be an API key such as rtn_…. Is its environment variable set?');
  }
  if (!(timeoutMs > 0) || !Number.isSafeInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError('timeoutMs must be more than 0, and maxRetries a whole number from 0 on.');
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
  const { process, document, window } = globalThis as {
    process?: { readonly versions?: { readonly node?: string } };
    document?: unknown;
    window?: unknown;
  };
  // Test environments imitate a browser inside Node.js.
  if (document === undefined || window === undefined || process?.versions?.node) return;
  throw new Error(
    '@retention/client must not run in a browser: everyone who opens the page could read the API key. Call the service from your server, and send the page only what it needs.',
  );
}
