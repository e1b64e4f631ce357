import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkExpansions, show } from './expansion.ts';
import { type Key, type KeyOptions, authenticate, makeKey, permit } from './keys.ts';
import { listPage } from './lists.ts';
import { readParameters } from './parameters.ts';
import { StripeRefusal, missing } from './refusals.ts';
import { type StripeObject, document, findFaults, resourceOf } from './schema.ts';
import { inVersion } from './versions.ts';
import type { StripeWorld } from './world.ts';

/** Faults to inject, each with how many times it still occurs. */
export interface StripeFaults {
  /** Responds 429, with `retryAfter` if that is set. */
  tooMany: number;
  /** Responds 500. */
  failed: number;
  /** Cuts the connection instead of responding. */
  cut: number;
  /** Never responds, until the stand-in closes. */
  hanging: number;
}

export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly version: string | undefined;
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly at: number;
  /** The status of the response, once there is one. */
  status?: number;
}

export interface StripeStandIn {
  readonly baseUrl: string;
  /** A restricted key that may read everything of the first world. */
  readonly key: string;
  readonly faults: StripeFaults;
  /** In the order in which they arrived. */
  readonly requests: StripeRequest[];
  /** What the document does not permit, or the stand-in cannot do: `close` throws it. */
  readonly failures: Error[];
  /** How many requests a second are answered; the others get 429. */
  limitPerSecond: number;
  /** The header Retry-After of a 429, in seconds. */
  retryAfter: string | undefined;
  /** The header Stripe-Should-Retry of faults. */
  shouldRetry: 'true' | 'false' | undefined;
  /** Awaited before a response is sent. */
  pause: (request: StripeRequest) => Promise<void>;
  createKey(options?: KeyOptions & { readonly world?: StripeWorld }): string;
  expireKey(key: string): void;
  revokeKey(key: string): void;
  close(): Promise<void>;
}

const kindOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(document.paths).flatMap(([path, { answer }]) => {
    const kind = resourceOf(answer.anyOf?.[0] ?? answer);
    return kind === undefined ? [] : [[path.split('/')[2] ?? '', kind]];
  }),
);
const eventDays = 30;
const second = 1000;

/**
 * Stripe's API over real HTTP: what requests and answers may be is taken from the published
 * document, and what is answered from worlds.
 */
export async function startStripe(world: StripeWorld): Promise<StripeStandIn> {
  const keys = new Map<string, Key>();
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      standIn.failures.push(error as Error);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const standIn: StripeStandIn = {
    baseUrl: `http://127.0.0.1:${port}`,
    key: createKey(),
    faults: { tooMany: 0, failed: 0, cut: 0, hanging: 0 },
    requests: [],
    failures: [],
    limitPerSecond: Infinity,
    retryAfter: undefined,
    shouldRetry: undefined,
    pause: async () => {},
    createKey,
    expireKey: (key) => {
      (keys.get(key) as Key).isExpired = true;
    },
    revokeKey: (key) => void keys.delete(key),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      if (standIn.failures.length > 0) {
        throw new AggregateError(standIn.failures, standIn.failures.map(String).join('\n'));
      }
    },
  };

  function createKey(options: KeyOptions & { readonly world?: StripeWorld } = {}): string {
    const key = makeKey(options.world ?? world, options);
    keys.set(key.value, key);
    return key.value;
  }

  function occurs(fault: keyof StripeFaults): boolean {
    if (standIn.faults[fault] <= 0) return false;
    standIn.faults[fault] -= 1;
    return true;
  }

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', standIn.baseUrl);
    const request: StripeRequest = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      version: incoming.headers['stripe-version'] as string | undefined,
      at: performance.now(),
    };
    standIn.requests.push(request);
    const number = standIn.requests.length;
    if (occurs('cut')) return void response.destroy();
    if (occurs('hanging')) return;
    let status = 200;
    let headers: Readonly<Record<string, string>> = {};
    let body: unknown;
    try {
      body = answer(request, incoming.headers.authorization);
    } catch (error) {
      const refusal =
        error instanceof StripeRefusal
          ? error
          : new StripeRefusal(500, (error as Error).message, { type: 'api_error' });
      if (refusal !== error) standIn.failures.push(error as Error);
      ({ status, headers } = refusal);
      body = { error: { ...refusal.details, message: refusal.message } };
    }
    await standIn.pause(request);
    request.status = status;
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': `req_${String(number).padStart(14, '0')}`,
      ...(request.version !== undefined && { 'stripe-version': request.version }),
      ...headers,
    });
    response.end(JSON.stringify(body));
  }

  function answer(request: StripeRequest, authorization: string | undefined): unknown {
    const { method, path, query, at } = request;
    const key = authenticate(authorization, keys);
    const retry = standIn.shouldRetry && { 'stripe-should-retry': standIn.shouldRetry };
    const recent = standIn.requests.filter((each) => each.at > at - second && each.status !== 429);
    if (occurs('tooMany') || recent.length > standIn.limitPerSecond) {
      throw new StripeRefusal(
        429,
        'Too many requests hit the API too quickly. We recommend an exponential backoff of your requests.',
        { type: 'rate_limit_error', code: 'rate_limit' },
        {
          'stripe-rate-limited-reason': 'global-rate',
          ...(standIn.retryAfter !== undefined && { 'retry-after': standIn.retryAfter }),
          ...retry,
        },
      );
    }
    if (occurs('failed')) {
      throw new StripeRefusal(
        500,
        'An unknown error occurred.',
        { type: 'api_error' },
        { ...retry },
      );
    }
    const version = request.version ?? key.world.apiVersion;
    if (!document.info['x-versions'].includes(version)) {
      throw new StripeRefusal(400, `Invalid Stripe API version: ${version}`);
    }
    const [, , name = '', id] = path.split('/');
    const endpoint = document.paths[id === undefined ? path : `/v1/${name}/{id}`];
    if (!endpoint || method !== 'GET' || path.split('/').length > 4) {
      throw new StripeRefusal(404, `Unrecognized request URL (${method}: ${path}).`);
    }
    permit(key, name);
    const parameters = readParameters(query, endpoint.parameters);
    const expand = (parameters['expand'] ?? []) as readonly string[];
    checkExpansions(endpoint.answer, expand);
    const find = (kinds: readonly string[], each: string) => key.world.find(kinds, each);
    const found = read(key.world, name, id, parameters);
    const shown = show(found, answeredSchema(endpoint.answer, found), expand, find);
    const faults = findFaults(shown, answeredSchema(endpoint.answer, found), path);
    if (faults.length > 0) throw new Error(`The document does not permit: ${faults.join('; ')}`);
    return inVersion(shown, version, key.world);
  }

  return standIn;
}

/** Customers that have been deleted are answered as such. */
const answeredSchema = (answer: (typeof document.paths)[string]['answer'], found: StripeObject) =>
  answer.anyOf?.find(
    (each) => resourceOf(each)?.startsWith('deleted_') === (found['deleted'] === true),
  ) ?? answer;

function read(
  world: StripeWorld,
  name: string,
  id: string | undefined,
  parameters: Readonly<Record<string, unknown>>,
): StripeObject {
  if (name === 'account') return world.get('account', world.account);
  const kind = kindOf[name] ?? name.replace(/s$/, '');
  const isKept = (object: StripeObject) =>
    kind !== 'event' || Number(object['created']) > world.now - eventDays * 24 * 60 * 60;
  const objects = world.list(kind).filter(isKept);
  if (id === undefined) {
    const { data, hasMore } = listPage(kind, objects, parameters);
    return { object: 'list', data: [...data], has_more: hasMore, url: `/v1/${name}` };
  }
  const wanted = decodeURIComponent(id);
  const found = objects.find((each) => each['id'] === wanted);
  const deleted = kind === 'customer' ? world.peek(kind, wanted) : undefined;
  const either = found ?? deleted;
  if (!either) throw missing(kind, wanted);
  return either;
}
