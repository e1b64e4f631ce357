import type Stripe from 'stripe';
import type { JsonObject } from '../../json.ts';
import { jittered, realBackoff } from '../backoff.ts';
import { CredentialsRefused, PlatformError } from '../errors.ts';
import type { ConnectContext } from '../platform.ts';

/** Pinned: what the mappings and tests were written for. A key's account may have another one. */
const apiVersion = '2026-10-28.endive';
const address = 'https://api.stripe.com';
/**
 * Stripe allows 100 requests a second, 25 in test mode, and others need some. A server asks from two threads: its syncs
 * and its webhooks.
 */
const gapMilliseconds = 80;
const maxGapMilliseconds = 2_000;
const timeoutMilliseconds = 30_000;
/** Of one request that Stripe answers with 429. */
const maxAttempts = 8;
const maxPauseSeconds = 120;
const pageSize = 100;

/** The resources that are read, as the library calls them. */
export type Resource =
  | 'subscriptions'
  | 'invoices'
  | 'refunds'
  | 'disputes'
  | 'events'
  | 'prices'
  | 'products'
  | 'coupons'
  | 'customers'
  | 'paymentIntents';

interface Lister {
  list(params: object): AsyncIterable<JsonObject> & PromiseLike<unknown>;
  retrieve(id: string, params: object): Promise<JsonObject>;
}

/** Reads one account. Its methods throw PlatformError. */
export interface StripeClient {
  /** How many requests it has sent. */
  requests(): number;
  account(): Promise<JsonObject>;
  /** Newest first. */
  list(resource: Resource, params?: object): AsyncIterable<JsonObject>;
  /** @returns undefined if there is none */
  find(resource: Resource, id: string, expand: readonly string[]): Promise<JsonObject | undefined>;
  /** @returns what Stripe calls the permission that the key lacks to read a resource; undefined if it lacks none */
  findMissingPermission(resource: Resource | 'account'): Promise<string | undefined>;
}

type ClientContext = Pick<ConnectContext, 'clock' | 'signal' | 'backoff'>;

/** @param baseUrl replaces Stripe's address */
export function openClient(
  key: string,
  baseUrl: string | undefined,
  context: ClientContext,
): StripeClient {
  let requests = 0;
  const send = paced(context, baseUrl, () => void (requests += 1));
  let opened: Promise<Stripe> | undefined;
  const open = () =>
    (opened ??= import('stripe').then(
      ({ default: Library }) =>
        new Library(key, {
          apiVersion,
          maxNetworkRetries: 3,
          telemetry: false,
          // Pauses that Stripe asks for are part of it; each attempt has a time limit of its own.
          timeout: 30 * 60_000,
          httpClient: Library.createFetchHttpClient(send as typeof fetch),
        }),
    ));
  const explained = async <Result>(
    what: string,
    ask: (library: Stripe) => PromiseLike<Result>,
  ): Promise<Result> => {
    try {
      return await ask(await open());
    } catch (error) {
      context.signal?.throwIfAborted();
      throw explain(error, what);
    }
  };
  const lister = (library: Stripe, resource: Resource) => library[resource] as unknown as Lister;
  return {
    requests: () => requests,
    account: () =>
      explained('account', async ({ accounts }) => ({ ...(await accounts.retrieveCurrent()) })),
    async *list(resource, params = {}) {
      const pages = lister(await open(), resource)
        .list({ limit: pageSize, ...params })
        [Symbol.asyncIterator]();
      for (;;) {
        const { value, done } = await explained(resource, () => pages.next());
        if (done) return;
        yield value;
      }
    },
    find: (resource, id, expand) =>
      explained(resource, (library) => lister(library, resource).retrieve(id, { expand })).catch(
        (error: unknown) => {
          if (error instanceof Missing) return undefined;
          throw error;
        },
      ),
    async findMissingPermission(resource) {
      try {
        if (resource === 'account') await this.account();
        else await explained(resource, (library) => lister(library, resource).list({ limit: 1 }));
        return undefined;
      } catch (error) {
        if (error instanceof Forbidden) return error.permission;
        throw error;
      }
    },
  };
}

/** There is no such object, or none to list others after. */
export class Missing extends PlatformError {}

class Forbidden extends PlatformError {
  readonly permission: string;

  constructor(permission: string) {
    super(
      'refused',
      `The key lacks the permission ${permission}. Edit it at dashboard.stripe.com/apikeys.`,
    );
    this.permission = permission;
  }
}

/** An error of Stripe, or of the way to it, as one sentence of our own: Stripe's may quote a part of the key. */
function explain(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !('type' in error) || !('rawType' in error)) return error;
  const { statusCode, code, param, message } = error as Stripe.errors.StripeError;
  const reason = [statusCode, code, param].filter((each) => each !== undefined).join(', ');
  if (code === 'resource_missing')
    return new Missing('refused', `Stripe does not have what was asked for: ${what}.`);
  switch (statusCode) {
    case 401:
      return new CredentialsRefused(
        code === 'api_key_expired'
          ? 'The key has expired. Create another one at Stripe, and connect again.'
          : 'Stripe does not accept the key. Connect again with one that is valid.',
      );
    case 403:
      return new Forbidden(/rak_\w+/.exec(message)?.[0] ?? `to read ${what}`);
    case 400:
    case 404:
      return new PlatformError('refused', `Stripe refuses the request for ${what} (${reason}).`);
    default:
      return new PlatformError(
        'unavailable',
        `Stripe cannot be reached, or does not answer as it should (${what}${reason && `, ${reason}`}).`,
      );
  }
}

/** Sends requests one after the other with a gap between them, which grows while Stripe answers 429. */
function paced(
  { clock, signal, backoff = realBackoff }: ClientContext,
  baseUrl: string | undefined,
  count: () => void,
) {
  let gap = gapMilliseconds;
  let freeAt = 0;
  const wait = async () => {
    const now = clock.monotonic();
    const at = Math.max(now, freeAt);
    freeAt = at + gap;
    if (at > now) await backoff.wait(at - now, signal);
  };
  return async (url: string, init: RequestInit): Promise<Response> => {
    for (let attempt = 1; ; attempt += 1) {
      await wait();
      signal?.throwIfAborted();
      count();
      const signals = [init.signal, signal, AbortSignal.timeout(timeoutMilliseconds)];
      const response = await fetch(
        baseUrl === undefined ? url : url.replace(address, baseUrl.replace(/\/$/, '')),
        // A redirect could take the key elsewhere.
        { ...init, redirect: 'error', signal: AbortSignal.any(signals.filter((each) => !!each)) },
      );
      if (response.status !== 429 || attempt === maxAttempts) {
        gap = Math.max(gapMilliseconds, gap * 0.9);
        return response;
      }
      await response.body?.cancel();
      gap = Math.min(maxGapMilliseconds, gap * 2);
      const asked = Number(response.headers.get('retry-after'));
      const pause =
        asked > 0
          ? Math.min(asked, maxPauseSeconds) * 1000
          : jittered(attempt, 0.5 + backoff.random() / 2);
      // Others wait too.
      freeAt = Math.max(freeAt, clock.monotonic() + pause);
    }
  };
}
