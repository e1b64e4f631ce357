import type Stripe from 'stripe';
import type { JsonObject } from '../../json.ts';
import { CredentialsRefused, Forbidden, PlatformError } from '../errors.ts';
import { type Pace, type PacedContext, paced } from '../paced.ts';

/** Pinned: what mappings and tests were written for. An account may have another one. */
const apiVersion = '2026-10-28.endive';
/** At most 25 requests a second, all that test mode allows, from a server's two threads: syncs and webhooks. */
const api = { address: 'https://api.stripe.com', gapMilliseconds: 80 };
export const newPace = (): Pace => ({ gap: api.gapMilliseconds, freeAt: 0 });

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

/** @param baseUrl replaces Stripe's address */
export function openClient(key: string, baseUrl: string | undefined, context: PacedContext) {
  const { send, requests } = paced(api, context, baseUrl);
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

/** As Stripe calls them. */
export const forbidden = { lacks: 'The key lacks permissions', at: 'Stripe' };

/** An error in a sentence of our own: Stripe's may quote a part of the key. */
function explain(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !('rawType' in error)) return error;
  const { statusCode, code, param, message } = error as Stripe.errors.StripeError;
  if (statusCode === 401) {
    const why = code === 'api_key_expired' ? 'has expired' : 'is not valid';
    return new CredentialsRefused(`Stripe says that the key ${why}. Connect with another one.`);
  }
  if (statusCode === 403)
    return new Forbidden([/rak_\w+/.exec(message)?.[0] ?? `for ${what}`], forbidden);
  const details = [what, statusCode, code, param].filter((each) => each !== undefined).join(', ');
  if (code === 'resource_missing') return new Missing('refused', `Stripe has none: ${details}.`);
  return statusCode === 400 || statusCode === 404
    ? new PlatformError('refused', `Stripe refuses the request: ${details}.`)
    : new PlatformError('unavailable', `Stripe is not available: ${details}.`);
}
