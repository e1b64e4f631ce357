import type Stripe from 'stripe';
import type { JsonObject } from '../../json.ts';
import { jittered, realBackoff } from '../backoff.ts';
import { CredentialsRefused, PlatformError } from '../errors.ts';
import type { ConnectContext } from '../platform.ts';

/** Pinned: what mappings and tests were written for. An account may have another one. */
const apiVersion = '2026-10-28.endive';
const address = 'https://api.stripe.com';
/** At most 25 requests a second, all that test mode allows, from a server's two threads: syncs and webhooks. */
const gapMilliseconds = 80;
const maxGapMilliseconds = 2_000;
const timeoutMilliseconds = 30_000;
/** Of a request that is answered with 429. */
const maxAttempts = 8;
const maxPauseSeconds = 120;

/** What is read, as the library calls it. */
export type Resource =
  | 'subscriptions'
  | 'invoices'
  | 'refunds'
  | 'disputes'
  | 'events'
  | 'prices'
  | 'products'
  | 'coupons'
  | 'customers';

interface Lister {
  list(params: object): AsyncIterable<JsonObject>;
  retrieve(id: string, params: object): Promise<JsonObject>;
}

/** Reads one account. Throws PlatformError. */
export type StripeClient = ReturnType<typeof openClient>;

interface ClientContext extends Pick<ConnectContext, 'clock' | 'signal' | 'backoff'> {
  readonly pace?: ReturnType<typeof newPace>;
}

/** The gap between requests, and when the next one may be sent. An account has one, however many shops it has. */
export const newPace = () => ({ gap: gapMilliseconds, freeAt: 0 });

/** @param baseUrl replaces Stripe's address */
export function openClient(key: string, baseUrl: string | undefined, context: ClientContext) {
  const { send, requests } = paced(context, baseUrl);
  // Loaded only where it is used: it has all of Stripe.
  const open = async () => {
    const { default: Library } = await import('stripe');
    return new Library(key, {
      apiVersion,
      maxNetworkRetries: 3,
      telemetry: false,
      // Pauses that Stripe asks for are a part of it; each attempt has a time limit of its own.
      timeout: 30 * 60_000,
      httpClient: Library.createFetchHttpClient(send as typeof fetch),
    });
  };
  let opened: Promise<Stripe> | undefined;
  const ask = async <Answer>(what: string, work: (library: Stripe) => Promise<Answer>) => {
    try {
      return await work(await (opened ??= open()));
    } catch (error) {
      context.signal?.throwIfAborted();
      throw explain(error, what);
    }
  };
  return {
    /** How many it has sent. */
    requests,
    account: () => ask('account', async ({ accounts }) => plain(await accounts.retrieveCurrent())),
    /** Newest first. */
    async *list(resource: Resource, params: object): AsyncGenerator<JsonObject> {
      // In an object, since the list is a promise of its first page too.
      const { list } = await ask(resource, async (library) => ({
        list: listerOf(library, resource).list({ limit: 100, ...params }),
      }));
      const objects = list[Symbol.asyncIterator]();
      for (;;) {
        const { value, done } = await ask(resource, () => objects.next());
        if (done) return;
        yield plain(value);
      }
    },
    /** @returns undefined if there is none */
    find: (resource: Resource, id: string, expand: readonly string[]) =>
      ask(resource, async (library) =>
        plain(await listerOf(library, resource).retrieve(id, { expand })),
      ).catch((error: unknown) => {
        if (error instanceof Missing) return undefined;
        throw error;
      }),
  };
}

const listerOf = (library: Stripe, resource: Resource) => library[resource] as unknown as Lister;

/** As Stripe wrote it: the library makes objects of decimals. */
const plain = (object: object): JsonObject => JSON.parse(JSON.stringify(object));

/** There is no such object, or none after which to list others. */
export class Missing extends PlatformError {}

/** The key lacks permissions, as Stripe calls them. */
export class Forbidden extends PlatformError {
  readonly permissions: readonly string[];

  constructor(permissions: readonly string[]) {
    const all = new Intl.ListFormat('en-GB').format(permissions);
    super('refused', `The key lacks permissions that are needed: ${all}. Edit it at Stripe.`);
    this.permissions = permissions;
  }
}

/** An error in a sentence of our own: Stripe's may quote a part of the key. */
function explain(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !('rawType' in error)) return error;
  const { statusCode, code, param, message } = error as Stripe.errors.StripeError;
  if (statusCode === 401) {
    const why = code === 'api_key_expired' ? 'has expired' : 'is not valid';
    return new CredentialsRefused(`Stripe says that the key ${why}. Connect with another one.`);
  }
  if (statusCode === 403) return new Forbidden([/rak_\w+/.exec(message)?.[0] ?? `for ${what}`]);
  const details = [what, statusCode, code, param].filter((each) => each !== undefined).join(', ');
  if (code === 'resource_missing') return new Missing('refused', `Stripe has none: ${details}.`);
  return statusCode === 400 || statusCode === 404
    ? new PlatformError('refused', `Stripe refuses the request: ${details}.`)
    : new PlatformError('unavailable', `Stripe is not available: ${details}.`);
}

/** Sends requests with a gap in between, which grows while Stripe answers 429. */
function paced(
  { clock, signal, backoff = realBackoff, pace = newPace() }: ClientContext,
  baseUrl = address,
) {
  let count = 0;
  const wait = async () => {
    const now = clock.monotonic();
    const at = Math.max(now, pace.freeAt);
    pace.freeAt = at + pace.gap;
    if (at > now) await backoff.wait(at - now, signal);
    signal?.throwIfAborted();
  };
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const place = url.replace(address, baseUrl.replace(/\/$/, ''));
    for (let attempt = 1; ; attempt += 1) {
      await wait();
      count += 1;
      const signals = [init.signal, signal, AbortSignal.timeout(timeoutMilliseconds)];
      const stop = AbortSignal.any(signals.filter((each) => !!each));
      // A redirect could take the key elsewhere.
      const response = await fetch(place, { ...init, redirect: 'error', signal: stop });
      if (response.status !== 429 || attempt === maxAttempts) {
        pace.gap = Math.max(gapMilliseconds, pace.gap * 0.9);
        return response;
      }
      await response.body?.cancel();
      pace.gap = Math.min(maxGapMilliseconds, pace.gap * 2);
      const seconds = Math.min(Number(response.headers.get('retry-after')), maxPauseSeconds);
      const pause = seconds > 0 ? seconds * 1000 : jittered(attempt, backoff.random());
      pace.freeAt = Math.max(pace.freeAt, clock.monotonic() + pause);
    }
  };
  return { send, requests: () => count };
}
