import { EntitlementCache } from './entitlement-cache.ts';
import { Listing } from './pages.ts';
import { type Answered, type Call, type Limits, type Sender, send } from './request.ts';
import { type RetentionOptions, numberOption, toSender } from './settings.ts';
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

export interface CallOptions {
  /** Ends the call, and what it waits for. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. A list has it for each page. */
  readonly deadlineMs?: number | undefined;
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
    this.#cache = new EntitlementCache(async (customerId, load) => {
      const { body, askedAt } = await this.#send(entitlementsCall(customerId, load));
      return { entries: (body as unknown as EntitlementsResponse).subscriptions, askedAt };
    }, options.cache);
  }

  /** Every subscription of a customer, with whether it entitles now, by id. An unknown customer has none. */
  async getEntitlements(
    customerId: number,
    options: CallOptions = {},
  ): Promise<readonly EntitlementEntry[]> {
    const call = entitlementsCall(customerId, this.#limits(options));
    return (await this.#get<EntitlementsResponse>(call)).subscriptions;
  }

  /**
   * Whether a customer is entitled now. Answers are kept as `cache` says, one request is under way per customer, and
   * while the service cannot be reached the last answer holds as `cache` says.
   * @throws UnavailableError, RateLimitError if no answer holds; it is never false for want of one
   */
  async entitled(customerId: number, options: EntitledOptions = {}): Promise<boolean> {
    idText(customerId, 'customerId');
    const limits = this.#limits(options, this.#sender.entitledDeadlineMs);
    return this.#cache.isEntitled(customerId, options.planIds, limits);
  }

  /** Makes `entitled` ask anew about a customer, for example after a purchase. */
  forget(customerId: number): void {
    this.#cache.forget(customerId);
  }

  /** The shop's subscriptions, newest first: `await` gives the first page, `for await` walks all. */
  listSubscriptions(
    { cursor, ...parameters }: ListSubscriptionsParameters = {},
    options: CallOptions = {},
  ): Listing<Subscription> {
    return new Listing(
      'listSubscriptions',
      async (after) => {
        const path = `/subscriptions${queryOf({ limit: 100, ...parameters, cursor: after })}`;
        const call: Call = { operation: 'listSubscriptions', path, ...this.#limits(options) };
        const page = await this.#get<SubscriptionPage>(call);
        return { entries: page.subscriptions, nextCursor: page.nextCursor };
      },
      cursor,
    );
  }

  /** @throws NotFoundError if the shop has no such subscription */
  async getSubscription(
    subscriptionId: number,
    options: CallOptions = {},
  ): Promise<SubscriptionDetail> {
    const path = `/subscriptions/${idText(subscriptionId, 'subscriptionId')}`;
    const call: Call = { operation: 'getSubscription', path, ...this.#limits(options) };
    return (await this.#get<SubscriptionResponse>(call)).subscription;
  }

  /** The shop's figures now. */
  async getMetricsSummary(options: CallOptions = {}): Promise<MetricsSummary> {
    const path = '/metrics/summary';
    const call: Call = { operation: 'getMetricsSummary', path, ...this.#limits(options) };
    return (await this.#get<MetricsSummaryResponse>(call)).summary;
  }

  /** The plans that the shop sells, by id. */
  async listPlans(options: CallOptions = {}): Promise<readonly SellingPlan[]> {
    const call: Call = { operation: 'listPlans', path: '/plans', ...this.#limits(options) };
    return (await this.#get<SellingPlansResponse>(call)).plans;
  }

  /** The sessions of the cancel flow, newest first: `await` gives the first page, `for await` walks all. */
  listCancellations(
    { cursor, ...parameters }: ListCancellationsParameters = {},
    options: CallOptions = {},
  ): Listing<CancellationSession> {
    return new Listing(
      'listCancellations',
      async (after) => {
        const path = `/cancellations${queryOf({ limit: 100, ...parameters, cursor: after })}`;
        const call: Call = { operation: 'listCancellations', path, ...this.#limits(options) };
        const page = await this.#get<CancellationPage>(call);
        return { entries: page.cancellations, nextCursor: page.nextCursor };
      },
      cursor,
    );
  }

  #limits({ signal, deadlineMs }: CallOptions, otherwiseMs = this.#sender.deadlineMs): Limits {
    const limitMs = deadlineMs ?? otherwiseMs;
    numberOption('deadlineMs', limitMs);
    return { signal, endsAt: performance.now() + limitMs };
  }

  async #get<Body>(call: Call): Promise<Body> {
    return (await this.#send(call)).body as Body;
  }

  #send(call: Call): Promise<Answered> {
    return send(this.#sender, { ...call, path: `/api/external/v1${call.path}` });
  }
}

function entitlementsCall(customerId: number, options: Limits & Pick<Call, 'retries'>): Call {
  const path = `/entitlements?customerId=${idText(customerId, 'customerId')}`;
  return { operation: 'getEntitlements', path, ...options };
}

/** Digits; numbers that JavaScript cannot hold exactly would name another record. */
function idText(id: number, name: string): string {
  if (!Number.isSafeInteger(id) || id < 1) {
    const given: unknown = id;
    const isDigits = typeof given === 'string' && /^[1-9]\d{0,15}$/.test(given);
    const advice = isDigits
      ? `pass Number('${given}')`
      : "for a customer's text at the source, pass customerIdOf(text)";
    const shown = typeof given === 'string' ? `the text ${JSON.stringify(given)}` : String(given);
    throw new TypeError(
      `${name} must be a whole number from 1 to 2^53 - 1; it is ${shown}: ${advice}.`,
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
