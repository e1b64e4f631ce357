import { type JsonObject, isObject, objectsIn } from '../../json.ts';
import { jittered, realBackoff } from '../backoff.ts';
import { CredentialsRefused, Forbidden, PlatformError } from '../errors.ts';
import { type PacedContext, paced } from '../paced.ts';

/** Pinned: a store may have another one by default. */
const apiVersion = '2021-11';
/** Two requests a second: what Recharge's smallest limit allows for any time. */
const api = { address: 'https://api.rechargeapps.com', gapMilliseconds: 500 };
const pageSize = '250';
/** Of a request that fails at Recharge, or on the way. */
const maxAttempts = 3;

export const forbidden = { lacks: 'The token lacks scopes', at: 'Recharge' };
/** What is read, and the scope that it needs, as Recharge calls it. */
const scopes = {
  store: 'read_store',
  subscriptions: 'read_subscriptions',
  charges: 'read_orders',
} as const;
type Resource = keyof typeof scopes;
type Query = Readonly<Record<string, string>>;

/** Reads one store. Throws PlatformError. */
export type RechargeClient = ReturnType<typeof openClient>;

/** @param baseUrl replaces Recharge's address */
export function openClient(token: string, baseUrl: string | undefined, context: PacedContext) {
  const { signal, backoff = realBackoff } = context;
  const { send, requests } = paced(api, context, baseUrl);
  const headers = { 'x-recharge-access-token': token, 'x-recharge-version': apiVersion };
  const ask = async (what: Resource, query: Query = {}): Promise<JsonObject> => {
    for (let attempt = 1; ; attempt += 1) {
      let status: number | undefined;
      try {
        const url = `${api.address}/${what}?${new URLSearchParams(query)}`;
        const response = await send(url, { headers });
        ({ status } = response);
        const body: unknown = await response.json();
        // A list that is not there must not pass for an empty one.
        const isThere = what === 'store' ? isObject : Array.isArray;
        if (response.ok && isObject(body) && isThere(body[what])) return body;
      } catch {
        signal?.throwIfAborted();
      }
      const isOurs = status !== undefined && status >= 400 && status < 500;
      if (isOurs || attempt === maxAttempts) throw explain(what, status, isOurs);
      await backoff.wait(jittered(attempt, backoff.random()), signal);
    }
  };
  return {
    requests,
    store: async () => (await ask('store'))['store'] as JsonObject,
    async *list(name: Exclude<Resource, 'store'>, filter: Query) {
      let query: Query = { limit: pageSize, ...filter };
      for (;;) {
        const { next_cursor: cursor, [name]: objects } = await ask(name, query);
        yield objectsIn(objects);
        if (typeof cursor !== 'string' || cursor === '') return;
        // It has the filter in it; Recharge refuses both together.
        query = { limit: pageSize, cursor };
      }
    },
  };
}

const invalid = 'Recharge says that the token is not valid. Connect with another one.';

/** An error in a sentence of our own. */
function explain(what: Resource, status: number | undefined, isOurs: boolean): PlatformError {
  if (status === 401) return new CredentialsRefused(invalid);
  if (status === 403) return new Forbidden([scopes[what]], forbidden);
  const details = `${what}, ${status ?? 'no answer'}`;
  return isOurs && status !== 429
    ? new PlatformError('refused', `Recharge refuses the request: ${details}.`)
    : new PlatformError('unavailable', `Recharge is not available: ${details}.`);
}
