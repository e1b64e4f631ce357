import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { BulkOperations } from './stand-in-bulk.ts';
import { apiVersion } from '../../../src/platforms/shopify/api/version.ts';
import { type Root, executeDocument } from './schema/execution.ts';
import { WebhookSubscriptions } from './stand-in-webhooks.ts';
import { StandInTokens } from './stand-in-tokens.ts';
import type { StandInWorld } from './stand-in-world.ts';

/** Faults to inject, each with how many times it still occurs. */
export interface Faults {
  /** Responds 503. */
  unavailable: number;
  /** Responds 429, with a Retry-After of one millisecond. */
  tooMany: number;
  /** Cuts the connection instead of responding. */
  cut: number;
  /** Responds that the bucket has less than the query costs. */
  throttled: number;
  /** Bulk operations that end as FAILED. */
  failedOperations: number;
  /** Bulk operations that end as COMPLETED with only some of the data. */
  partialOperations: number;
  /** Downloads that break off in the middle. */
  brokenDownloads: number;
  /** Downloads that end early but look complete. */
  shortDownloads: number;
  /** Downloads whose signed URL has expired. */
  expiredDownloads: number;
  /** Bulk queries that are refused because another operation is running. */
  busy: number;
}

export interface StandIn {
  readonly baseUrl: string;
  /** A token that does not end. */
  readonly accessToken: string;
  readonly tokens: StandInTokens;
  readonly world: StandInWorld;
  readonly faults: Faults;
  readonly bulk: BulkOperations;
  readonly webhooks: WebhookSubscriptions;
  /** Names of the requested GraphQL operations, in order. */
  readonly requests: string[];
  /** If set, the status with which it refuses every request. */
  status: number | undefined;
  /** Awaited after a response is prepared and before it is sent. */
  pause: () => Promise<void>;
  close(): Promise<void>;
}

const none: Faults = {
  unavailable: 0,
  tooMany: 0,
  cut: 0,
  throttled: 0,
  failedOperations: 0,
  partialOperations: 0,
  brokenDownloads: 0,
  shortDownloads: 0,
  expiredDownloads: 0,
  busy: 0,
};

/** Whether a fault occurs now, which uses it up once. */
export function occurs(faults: Faults, fault: keyof Faults): boolean {
  if (faults[fault] <= 0) return false;
  faults[fault] -= 1;
  return true;
}

interface GraphqlRequest {
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

export const shopDomain = 'sample-shop.myshopify.com';
const path = `/admin/api/${apiVersion}/graphql.json`;
/** Few, so that the samples have several pages. */
const childrenPerPage = 2;

/**
 * The parts of Shopify's Admin API that the service uses, for one shop, over real HTTP. It executes
 * what it is asked against the published schema.
 */
export async function startStandIn(world: StandInWorld): Promise<StandIn> {
  const faults = { ...none };
  const tokens = new StandInTokens();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  const baseUrl = await listen(server);
  const bulk = new BulkOperations(world, faults, baseUrl);
  const webhooks = new WebhookSubscriptions();
  const bucket = { maximumAvailable: 2000, restoreRate: 1000 };
  let [available, countedAt] = [bucket.maximumAvailable, performance.now()];
  /** Takes a query's points from the bucket, which refills as Shopify's does. */
  const take = (points: number) => {
    const now = performance.now();
    const refilled = available + ((now - countedAt) / 1000) * bucket.restoreRate;
    available = Math.max(0, Math.min(bucket.maximumAvailable, refilled) - points);
    countedAt = now;
  };
  const throttleStatus = () => ({ ...bucket, currentlyAvailable: Math.floor(available) });

  const standIn: StandIn = {
    baseUrl,
    accessToken: tokens.fixed,
    tokens,
    world,
    faults,
    bulk,
    webhooks,
    requests,
    status: undefined,
    pause: async () => {},
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  const root: Root = {
    ...world.root,
    ...webhooks.root,
    node: (args) => bulk.poll(String(args['id'])) ?? world.root['node']?.(args),
    bulkOperations: () => bulk.list(),
    bulkOperationRunQuery: ({ query, groupObjects }) =>
      bulk.run(String(query), groupObjects === true),
  };
  const pageSizes: Readonly<Record<string, () => number>> = {
    subscriptionContracts: () => world.contractsPerPage,
    bulkOperations: () => Infinity,
  };
  const maxPageSize = (field: string) => pageSizes[field]?.() ?? childrenPerPage;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/results/')) return bulk.send(request, response);
    const body = await text(request);
    if (occurs(faults, 'cut')) return void request.socket.destroy();
    const url = new URL(request.url ?? '', baseUrl);
    if (url.pathname === '/admin/oauth/authorize') return authorize(standIn, url, response);
    if (url.pathname === '/admin/oauth/access_token') {
      const { status, body: answered } = tokens.answer(body);
      return respond(response, status, answered);
    }
    if (request.method !== 'POST' || request.url !== path) {
      return respond(response, 404, { errors: 'Not Found' });
    }
    if (!tokens.isValid(request.headers['x-shopify-access-token'])) {
      return respond(response, 401, { errors: '[API] Invalid API key or access token' });
    }
    if (standIn.status !== undefined) return respond(response, standIn.status, { errors: 'No' });
    if (occurs(faults, 'unavailable')) return respond(response, 503, { errors: 'Unavailable' });
    if (occurs(faults, 'tooMany')) {
      response.setHeader('retry-after', '0.001');
      return respond(response, 429, { errors: 'Too many requests' });
    }
    const { query, variables } = JSON.parse(body) as GraphqlRequest;
    const name = /^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
    requests.push(name);
    const cost = { requestedQueryCost: 12, actualQueryCost: 10 as number | null };
    if (occurs(faults, 'throttled')) {
      const extensions = { code: 'THROTTLED', documentation: 'https://shopify.dev' };
      return respond(response, 200, {
        errors: [{ message: 'Throttled', extensions }],
        extensions: {
          cost: {
            ...cost,
            actualQueryCost: null,
            throttleStatus: { ...throttleStatus(), currentlyAvailable: 2 },
          },
        },
      });
    }
    take(10);
    // A result does not change with the world.
    const result = executeDocument(query, { root, variables, maxPageSize });
    await standIn.pause();
    respond(response, 200, {
      ...result,
      extensions: { cost: { ...cost, throttleStatus: throttleStatus() } },
    });
  }

  return standIn;
}

/** The page on which an owner agrees. */
function authorize(
  { tokens, world }: Pick<StandIn, 'tokens' | 'world'>,
  { searchParams }: URL,
  response: ServerResponse,
): void {
  const [clientId, redirectUri, state = '', scope = ''] = [
    'client_id',
    'redirect_uri',
    'state',
    'scope',
  ].map((name) => searchParams.get(name) ?? '');
  if (clientId !== tokens.clientId) return respond(response, 400, { error: 'invalid_request' });
  const back = String(
    tokens.signed({
      code: tokens.newCode(scope),
      host: 'YWRtaW4uc2hvcGlmeS5jb20vc3RvcmUvc2FtcGxl',
      shop: world.shop.myshopifyDomain,
      state,
      timestamp: String(Math.floor(Date.now() / 1000)),
    }),
  ).replaceAll('&', '&amp;');
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html><title>Install app</title><p>${scope}</p><a href="${redirectUri}?${back}">Install app</a>`,
  );
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
