import type { Clock } from '../../../clock.ts';
import { PlatformError } from '../../errors.ts';
import type { Log } from '../../../log/log.ts';
import { jittered } from '../../backoff.ts';

/** An attempt failed; another one may succeed. The message is the end of a sentence. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  readonly retryAfterMilliseconds: number;

  constructor(message: string, retryAfterMilliseconds = 0) {
    super(message);
    this.retryAfterMilliseconds = retryAfterMilliseconds;
  }
}

export interface ShopifyAnswer {
  readonly data: unknown;
  readonly cost: QueryCost | undefined;
  /** Whether the query was not run, because the bucket had too few points. */
  readonly isThrottled: boolean;
}

/** https://shopify.dev/docs/api/usage/response-codes */
const refusals: Readonly<Record<number, string>> = {
  402: 'is frozen: its bill is not paid',
  403: 'denies this app access (403)',
  404: 'does not have this API (404); check the domain',
  423: 'is locked by Shopify (423)',
};

/** 430: Shopify suspects an attack. */
const temporary = new Set([408, 429, 430]);

/** The access token is refused; another one may be accepted. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

interface Attempt {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | URLSearchParams;
  readonly timeoutMilliseconds: number;
  /** Stops it; its reason is thrown. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends a request once, and reads its answer.
 * @param read throws a PlatformError or TokenRefused if the answer is a refusal
 * @throws RetryableError if another attempt may succeed
 */
export async function attempt<Result>(
  url: string,
  { headers, body, timeoutMilliseconds, signal }: Attempt,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  try {
    const response = await fetch(url, {
      method: 'POST',
      // Tokens and secrets must not be sent anywhere else.
      redirect: 'manual',
      headers: { accept: 'application/json', ...headers },
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const { status } = response;
    if (status >= 500 || temporary.has(status)) {
      await response.body?.cancel();
      throw new RetryableError(
        `it answered ${status}`,
        retryAfter(response.headers.get('retry-after')),
      );
    }
    return await read(response);
  } catch (error) {
    signal?.throwIfAborted();
    const isExplained = [PlatformError, RetryableError, TokenRefused].some(
      (kind) => error instanceof kind,
    );
    if (isExplained) throw error;
    throw new RetryableError(
      timeout.aborted
        ? `it did not answer within ${timeoutMilliseconds / 1000} s`
        : reasonOf(error as Error),
    );
  }
}

/**
 * Reads the answer to a query.
 * @throws RetryableError, TokenRefused, PlatformError
 */
export async function readAnswer(response: Response, domain: string): Promise<ShopifyAnswer> {
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    if (status === 401) throw new TokenRefused();
    throw new PlatformError(
      'refused',
      `${domain} ${refusals[status] ?? `answered with an unexpected status (${status})`}.`,
    );
  }
  const text = await response.text();
  let body: GraphqlBody;
  try {
    body = JSON.parse(text);
  } catch {
    throw new RetryableError('its answer was not JSON');
  }
  return { data: body?.data, cost: body?.extensions?.cost, isThrottled: checkErrors(body, domain) };
}

interface GraphqlError {
  readonly message?: unknown;
  readonly extensions?: { readonly code?: unknown } | null;
}

interface GraphqlBody {
  readonly data?: unknown;
  /** Text if the whole request is refused. */
  readonly errors?: readonly GraphqlError[] | string;
  readonly extensions?: { readonly cost?: QueryCost };
}

const intermittent = new Set(['INTERNAL_SERVER_ERROR', 'TIMEOUT', 'SERVICE_UNAVAILABLE']);

/** @returns whether the query was throttled */
function checkErrors({ errors, data }: GraphqlBody, domain: string): boolean {
  if (errors === undefined || errors.length === 0) {
    if (typeof data !== 'object' || data === null) {
      throw new RetryableError('its answer had no data');
    }
    return false;
  }
  const list = typeof errors === 'string' ? [{ message: errors }] : errors;
  const codes = list.map(({ extensions }) => String(extensions?.code ?? ''));
  if (codes.includes('THROTTLED')) return true;
  if (codes.every((code) => intermittent.has(code))) {
    throw new RetryableError(`it answered with the error ${codes[0]}`);
  }
  const reasons = list.map(({ message }) => String(message ?? 'no reason')).join('; ');
  throw new PlatformError('refused', `${domain} refused a query: ${sanitize(reasons)}`);
}

/** Makes another system's text safe to show: shortened, on one line, and with tokens redacted. */
function sanitize(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/\bshp[a-z]{2,3}_[\w-]+/g, '[redacted]')
    .trim();
  const cut = line.length > 300 ? `${line.slice(0, 300)}…` : line;
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`;
}

/** @returns milliseconds; 0 for a date, which Shopify does not send */
function retryAfter(header: string | null): number {
  const seconds = Number(header ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** The error of `fetch` says only that it failed; its cause says why. */
function reasonOf({ cause }: Error): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}

const maxFailures = 6;
const maxThrottled = 20;
const maxPauseMilliseconds = 300_000;

interface AttemptsOptions {
  readonly domain: string;
  readonly log: Log;
  /** From 0 up to, but not including, 1. */
  random(): number;
}

/** Decides for one query how long to wait before the next attempt, and when to give up. */
export class Attempts {
  readonly #options: AttemptsOptions;
  #failures = 0;
  #throttled = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /**
   * @returns milliseconds
   * @throws PlatformError after too many
   */
  pauseAfterThrottling(): number {
    const { domain, random } = this.#options;
    this.#throttled += 1;
    if (this.#throttled === maxThrottled) {
      throw new PlatformError(
        'unavailable',
        `${domain} has throttled the same query ${maxThrottled} times; another process may be using the same token.`,
      );
    }
    // Others use the same bucket: wait even if it has points, and not in step with them.
    return random() * 250 * this.#throttled;
  }

  /**
   * @returns milliseconds, at least as many as Shopify requests
   * @throws PlatformError after too many
   */
  pauseAfterFailure(error: RetryableError): number {
    const { domain, log, random } = this.#options;
    this.#failures += 1;
    if (this.#failures === maxFailures) {
      throw new PlatformError(
        'unavailable',
        `Querying ${domain} failed ${maxFailures} times: ${error.message}.`,
      );
    }
    log.debug({ domain, failures: this.#failures, reason: error.message }, 'retrying a query');
    return (
      jittered(this.#failures, random()) +
      Math.min(error.retryAfterMilliseconds, maxPauseMilliseconds)
    );
  }
}

/** `extensions.cost` of an answer. https://shopify.dev/docs/api/usage/limits */
export interface QueryCost {
  readonly requestedQueryCost: number;
  readonly actualQueryCost: number | null;
  readonly throttleStatus: {
    readonly maximumAvailable: number;
    readonly currentlyAvailable: number;
    /** Points per second. */
    readonly restoreRate: number;
  };
}

/** Shopify refuses queries that cost more. */
const maxQueryCost = 1000;

/**
 * Shopify's rate limit for an app on a shop: a bucket of points that refills at a constant rate.
 * Its level is known from the last answer, but not what others used with the same token since.
 * Queries use only a share of it: the rest stays in the bucket, for what else the app does.
 */
export class CostBucket {
  readonly #clock: Clock;
  readonly #share: number;
  /** The requested cost of each document, from its last answer. */
  readonly #costs = new Map<string, number>();
  #last: { readonly status: QueryCost['throttleStatus']; readonly at: number } | undefined;
  /** Points of queries in progress. */
  #reserved = 0;

  /** @param share of the bucket, more than 0 and at most 1 */
  constructor(clock: Clock, share = 1) {
    this.#clock = clock;
    this.#share = share;
  }

  /**
   * Milliseconds until the bucket should have enough points for the document, besides those to leave; 0 if unknown. A
   * document that costs more than the whole share waits until the bucket is full.
   */
  pauseBefore(document: string): number {
    if (!this.#last) return 0;
    const { currentlyAvailable, restoreRate, maximumAvailable } = this.#last.status;
    if (restoreRate <= 0) return 0;
    const refilled = ((this.#clock.monotonic() - this.#last.at) / 1000) * restoreRate;
    const available = Math.min(maximumAvailable, currentlyAvailable + refilled) - this.#reserved;
    const left = maximumAvailable * (1 - this.#share);
    // The first time, the cost is unknown. That may take the last points, but not those to leave.
    const cost = this.#costs.get(document) ?? (left > 0 ? maxQueryCost : 0);
    const lacking = Math.min(left + cost, maximumAvailable) - available;
    return lacking <= 0 ? 0 : Math.ceil((lacking / restoreRate) * 1000);
  }

  /** Reserves points for a query. @returns a function that releases them */
  reserve(document: string): () => void {
    const cost = this.#costs.get(document) ?? 0;
    this.#reserved += cost;
    return () => {
      this.#reserved -= cost;
    };
  }

  learn(document: string, { requestedQueryCost, throttleStatus }: QueryCost): void {
    this.#costs.set(document, requestedQueryCost);
    this.#last = { status: throttleStatus, at: this.#clock.monotonic() };
  }
}
