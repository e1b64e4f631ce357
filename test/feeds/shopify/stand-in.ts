import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { BulkOperations } from './stand-in-bulk.ts';
import { type StandInWorld, contractOf, groupOf } from './stand-in-world.ts';

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
  readonly accessToken: string;
  readonly world: StandInWorld;
  readonly faults: Faults;
  readonly bulk: BulkOperations;
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

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly unknown[];
}

/** Cursors are offsets, as text. */
function pageOf(all: readonly unknown[], first: number, after: unknown): Page {
  const begin = typeof after === 'string' ? Number(after) : 0;
  const nodes = all.slice(begin, begin + first);
  const end = begin + nodes.length;
  return {
    pageInfo: { hasNextPage: end < all.length, endCursor: nodes.length > 0 ? String(end) : null },
    nodes,
  };
}

interface GraphqlRequest {
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** Few, so that the samples have several pages. */
const childrenPerPage = 2;

/** The parts of Shopify's Admin API that the service uses, for one shop, over real HTTP. */
export async function startStandIn(world: StandInWorld): Promise<StandIn> {
  const faults = { ...none };
  const accessToken = `shpat_${randomBytes(16).toString('hex')}`;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  const baseUrl = await listen(server);
  const bulk = new BulkOperations(world, faults, baseUrl);
  let available = 2000;

  const standIn: StandIn = {
    baseUrl,
    accessToken,
    world,
    faults,
    bulk,
    requests,
    status: undefined,
    pause: async () => {},
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  const answers: Record<string, (variables: Record<string, unknown>, query: string) => unknown> = {
    ChangedContracts({ filter, after }) {
      const since = Date.parse(/^updated_at:>='(.+)'$/.exec(String(filter))?.[1] ?? '');
      if (Number.isNaN(since)) throw new Error(`What is ${String(filter)}?`);
      const changed = [...world.contracts.values()]
        .map(({ node }) => ({ id: node.id, updatedAt: String(node['updatedAt']) }))
        .filter(({ updatedAt }) => Date.parse(updatedAt) >= since)
        .toSorted((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt));
      return { subscriptionContracts: pageOf(changed, world.contractsPerPage, after) };
    },
    Contract: ({ id, after }) => ({ subscriptionContract: contractPage(id, after, true, true) }),
    ContractLines: ({ id, after }) => ({ subscriptionContract: contractPage(id, after, true) }),
    ContractAttempts: ({ id, after }) => ({
      subscriptionContract: contractPage(id, after, false, true),
    }),
    PlanGroup({ id, after }) {
      const group = groupOf(world, id);
      return {
        sellingPlanGroup: group && {
          ...group.node,
          sellingPlans: pageOf(group.plans, childrenPerPage, after),
        },
      };
    },
    NodesById: ({ ids }) => ({
      nodes: (ids as string[]).map((id) => (world.has(id) ? { id } : null)),
    }),
    RunBulkQuery: ({ query }) => ({ bulkOperationRunQuery: bulk.run(String(query)) }),
    BulkOperation: ({ id }) => ({ node: bulk.poll(String(id)) }),
    RunningBulkQueries: () => ({ bulkOperations: { nodes: bulk.list() } }),
  };

  function contractPage(id: unknown, after: unknown, hasLines = false, hasAttempts = false) {
    const contract = contractOf(world, id);
    if (!contract) return null;
    const { node, lines, attempts } = contract;
    return {
      ...node,
      ...(hasLines && { lines: pageOf(lines, childrenPerPage, after) }),
      ...(hasAttempts && { billingAttempts: pageOf(attempts, childrenPerPage, after) }),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/results/')) return bulk.send(request, response);
    const body = await text(request);
    if (occurs(faults, 'cut')) return void request.socket.destroy();
    if (request.method !== 'POST' || request.url !== '/admin/api/2026-10/graphql.json') {
      return respond(response, 404, { errors: 'Not Found' });
    }
    if (request.headers['x-shopify-access-token'] !== accessToken) {
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
    const throttleStatus = () => ({
      maximumAvailable: 2000,
      currentlyAvailable: available,
      restoreRate: 1000,
    });
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
    available = Math.max(100, available - 10);
    const found = answers[name];
    if (!found) return respond(response, 200, { errors: [{ message: `What is ${name}?` }] });
    const data = structuredClone(found(variables, query));
    await standIn.pause();
    respond(response, 200, {
      data,
      extensions: { cost: { ...cost, throttleStatus: throttleStatus() } },
    });
  }

  return standIn;
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
