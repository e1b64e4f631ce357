import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';
import { type ShopifyAnswer, Unavailable, readAnswer } from './answer.ts';
import { PlatformError } from '../../errors.ts';
import { CostBucket } from './cost-bucket.ts';
import { type Pauses, realPauses } from '../../pauses.ts';
import { Attempts } from './attempts.ts';

/** The Admin API's version: what our queries ask for and the mapping reads. */
const apiVersion = '2026-01';

export interface ShopifyClientOptions {
  readonly domain: string;
  readonly accessToken: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the API is instead of at the domain. */
  readonly baseUrl?: string | undefined;
  readonly pauses?: Pauses;
  /** Ends whatever is under way, with its reason. */
  readonly signal?: AbortSignal;
  /** For one answer. */
  readonly timeoutMilliseconds?: number;
}

/** What was asked of Shopify so far. */
interface Usage {
  queries: number;
  /** Points, as Shopify counts them. */
  cost: number;
  /** Shopify's own time at the last answer, epoch milliseconds. */
  answeredAt: number | undefined;
}

export interface ShopifyClient {
  readonly domain: string;
  readonly usage: Readonly<Usage>;
  readonly pauses: Pauses;
  readonly signal: AbortSignal | undefined;
  /**
   * The data that Shopify answers. Waits for the bucket of points; what may pass (5xx, 429, a lost
   * connection, no answer in time) is asked again, six times in all.
   * @throws PlatformError in one sentence, without the token
   */
  query<Data>(document: string, variables?: Readonly<Record<string, unknown>>): Promise<Data>;
}

/** The Admin GraphQL API of one shop. */
export function createShopifyClient(options: ShopifyClientOptions): ShopifyClient {
  const { domain, clock, log, pauses = realPauses, signal } = options;
  const { timeoutMilliseconds = 30_000 } = options;
  const url = `${(options.baseUrl ?? `https://${domain}`).replace(/\/+$/, '')}/admin/api/${apiVersion}/graphql.json`;
  const bucket = new CostBucket(clock);
  const usage: Usage = { queries: 0, cost: 0, answeredAt: undefined };

  /** One attempt. */
  const ask = async (document: string, body: string): Promise<ShopifyAnswer> => {
    const release = bucket.reserve(document);
    const timeout = AbortSignal.timeout(timeoutMilliseconds);
    try {
      const response = await fetch(url, {
        method: 'POST',
        // Elsewhere the token has no business.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-shopify-access-token': options.accessToken,
        },
        body,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const date = Date.parse(response.headers.get('date') ?? '');
      if (!Number.isNaN(date)) usage.answeredAt = date;
      return await readAnswer(response, domain);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof PlatformError || error instanceof Unavailable) throw error;
      throw new Unavailable(
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
      await pauses.wait(pause, signal);
    }
  };

  const query = async <Data>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<Data> => {
    const body = JSON.stringify({ query: document, variables });
    const attempts = new Attempts({ domain, random: pauses.random, log });
    for (;;) {
      await waitForPoints(document);
      let pause: number;
      try {
        const answer = await ask(document, body);
        usage.queries += 1;
        usage.cost += answer.cost?.actualQueryCost ?? 0;
        if (answer.cost) bucket.learn(document, answer.cost);
        if (!answer.isThrottled) return answer.data as Data;
        pause = attempts.pauseAfterThrottling();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        pause = attempts.pauseAfterFailure(error);
      }
      await pauses.wait(pause, signal);
    }
  };
  return { domain, usage, pauses, signal, query };
}

/** Of a failed request the driver only says that it failed; its cause says why. */
function reasonOf(error: Error): string {
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
