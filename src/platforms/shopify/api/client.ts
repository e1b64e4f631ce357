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
  Attempts,
  CostBucket,
  attempt,
} from './attempts.ts';
import { CredentialsRefused } from '../../errors.ts';
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
  { app, pointsShare, clock, log, signal, backoff = realBackoff }: ConnectContext,
): ShopifyClient {
  const { account: domain } = shop;
  const origin = originOf(domain, shop.baseUrl);
  const endpoint = { domain, origin, log, backoff, signal };
  const token = new AccessToken({
    shop,
    app,
    clock,
    log,
    signal,
    request: (parameters) => requestToken(endpoint, parameters),
  });
  return createShopifyClient({
    domain,
    origin,
    pointsShare,
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
  /** The part of the bucket that queries may use, more than 0; by default all of it. */
  readonly pointsShare?: number | undefined;
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
  const bucket = new CostBucket(clock, options.pointsShare);
  const usage: Usage = { queries: 0, cost: 0, answeredAt: undefined };

  const send = async (document: string, body: string, token: string): Promise<ShopifyAnswer> => {
    const release = bucket.reserve(document);
    const headers = { 'content-type': 'application/json', 'x-shopify-access-token': token };
    try {
      return await attempt(url, { headers, body, timeoutMilliseconds, signal }, (response) => {
        const date = Date.parse(response.headers.get('date') ?? '');
        if (!Number.isNaN(date)) usage.answeredAt = date;
        return readAnswer(response, domain);
      });
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
        const answer = await send(document, body, token);
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
