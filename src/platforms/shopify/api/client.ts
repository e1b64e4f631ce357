import type { ConnectedShop, ConnectContext } from '../../platform.ts';
import { type Backoff, realBackoff } from '../../backoff.ts';
import { AccessToken, requestToken } from './access-token.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';
import {
  type ShopifyAnswer,
  RetryableError,
  TokenRefused,
  readAnswer,
  reasonOf,
  Attempts,
} from './attempts.ts';
import { CredentialsRefused, PlatformError } from '../../errors.ts';
import { apiVersion } from './version.ts';

/**
 * Where a shop is, without a trailing slash.
 * @param baseUrl replaces Shopify, for a proxy or a stand-in; `{domain}` in it stands for the shop's domain
 */
export function originOf(domain: string, baseUrl: string | undefined): string {
  return (baseUrl ?? 'https://{domain}').replaceAll('{domain}', domain).replace(/\/+$/, '');
}

/** The Admin API of a connected shop, with access tokens that renew themselves. */
export function openClient(
  shop: ConnectedShop,
  { app, clock, log, signal, backoff = realBackoff }: ConnectContext,
): ShopifyClient {
  const { account: domain } = shop;
  const origin = originOf(domain, shop.baseUrl);
  const endpoint = { domain, origin, log, backoff, signal };
  const token = new AccessToken({
    shop,
    app,
    clock,
    log,
    request: (parameters) => requestToken(endpoint, parameters),
  });
  return createShopifyClient({
    domain,
    origin,
    clock,
    log,
    backoff,
    ...(signal && { signal }),
    accessToken: (refused) => token.get(refused),
  });
}

export interface ShopifyClientOptions {
  readonly domain: string;
  /** Where the shop is, without a trailing slash. */
  readonly origin: string;
  /** Gives the token to send. @param refused one that must not be given again */
  accessToken(refused?: string): Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
  readonly backoff?: Backoff;
  /** Stops everything in progress; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** For one attempt. */
  readonly timeoutMilliseconds?: number;
}

/** What was requested of Shopify so far. */
interface Usage {
  queries: number;
  /** Points, as Shopify counts them. */
  cost: number;
  /** The time of the last answer by Shopify's clock, in epoch milliseconds. */
  answeredAt: number | undefined;
}

export interface ShopifyClient {
  readonly domain: string;
  readonly origin: string;
  readonly usage: Readonly<Usage>;
  readonly backoff: Backoff;
  readonly signal: AbortSignal | undefined;
  /**
   * Returns the data of Shopify's answer. Waits until the bucket has enough points. Temporary
   * failures (5xx, 429, a lost connection, a timeout) are retried: six attempts in all.
   * @throws PlatformError in one sentence, without the token
   */
  query<Data>(document: string, variables?: Readonly<Record<string, unknown>>): Promise<Data>;
}

/** The Admin GraphQL API of one shop. */
export function createShopifyClient(options: ShopifyClientOptions): ShopifyClient {
  const { domain, clock, log, backoff = realBackoff, signal } = options;
  const { timeoutMilliseconds = 30_000 } = options;
  const url = `${options.origin}/admin/api/${apiVersion}/graphql.json`;
  const bucket = new CostBucket(clock);
  const usage: Usage = { queries: 0, cost: 0, answeredAt: undefined };

  const attempt = async (document: string, body: string, token: string): Promise<ShopifyAnswer> => {
    const release = bucket.reserve(document);
    const timeout = AbortSignal.timeout(timeoutMilliseconds);
    try {
      const response = await fetch(url, {
        method: 'POST',
        // The token must not be sent anywhere else.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-shopify-access-token': token,
        },
        body,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const date = Date.parse(response.headers.get('date') ?? '');
      if (!Number.isNaN(date)) usage.answeredAt = date;
      return await readAnswer(response, domain);
    } catch (error) {
      signal?.throwIfAborted();
      if (isOurs(error)) throw error;
      throw new RetryableError(
        timeout.aborted
          ? `it did not answer within ${timeoutMilliseconds / 1000} s`
          : reasonOf(error as Error),
      );
    } finally {
      release();
    }
  };

  const waitForPoints = async (document: string) => {
    for (;;) {
      const pause = bucket.pauseBefore(document);
      if (pause === 0) return;
      await backoff.wait(pause, signal);
    }
  };

  const query = async <Data>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<Data> => {
    const body = JSON.stringify({ query: document, variables });
    const attempts = new Attempts({ domain, random: backoff.random, log });
    let refused: string | undefined;
    for (;;) {
      await waitForPoints(document);
      const token = await options.accessToken(refused);
      let pause: number;
      try {
        const answer = await attempt(document, body, token);
        usage.queries += 1;
        usage.cost += answer.cost?.actualQueryCost ?? 0;
        if (answer.cost) bucket.learn(document, answer.cost);
        if (!answer.isThrottled) return answer.data as Data;
        pause = attempts.pauseAfterThrottling();
      } catch (error) {
        if (error instanceof TokenRefused) {
          if (refused !== undefined) {
            throw new CredentialsRefused(`${domain} refused two access tokens in turn.`);
          }
          refused = token;
          continue;
        }
        if (!(error instanceof RetryableError)) throw error;
        pause = attempts.pauseAfterFailure(error);
      }
      await backoff.wait(pause, signal);
    }
  };
  return { domain, origin: options.origin, usage, backoff, signal, query };
}

function isOurs(error: unknown): boolean {
  return (
    error instanceof PlatformError ||
    error instanceof RetryableError ||
    error instanceof TokenRefused
  );
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

/**
 * Shopify's rate limit for an app on a shop: a bucket of points that refills at a constant rate.
 * Its level is known from the last answer, but not what others used with the same token since.
 */
class CostBucket {
  readonly #clock: Clock;
  /** The requested cost of each document, from its last answer. */
  readonly #costs = new Map<string, number>();
  #last: { readonly status: QueryCost['throttleStatus']; readonly at: number } | undefined;
  /** Points of queries in progress. */
  #reserved = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the bucket should have enough points for the document; 0 if unknown. */
  pauseBefore(document: string): number {
    const cost = this.#costs.get(document);
    if (cost === undefined || !this.#last) return 0;
    const { currentlyAvailable, restoreRate, maximumAvailable } = this.#last.status;
    if (restoreRate <= 0) return 0;
    const refilled = ((this.#clock.monotonic() - this.#last.at) / 1000) * restoreRate;
    const available = Math.min(maximumAvailable, currentlyAvailable + refilled) - this.#reserved;
    const lacking = Math.min(cost, maximumAvailable) - available;
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
