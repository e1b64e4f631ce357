import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { BulkOperations } from './stand-in-bulk.ts';
import { type StandInWorld, contractOf, groupOf } from './stand-in-world.ts';

/** What goes wrong, how often; each time that it does, one is taken off. */
export interface Troubles {
  /** Answers 503. */
  unavailable: number;
  /** Answers 429, with a Retry-After of no time at all. */
  tooMany: number;
  /** Cuts the connection instead of answering. */
  cut: number;
  /** Answers that the bucket lacks what the query costs. */
  throttled: number;
  /** Bulk operations that end as FAILED. */
  failedOperations: number;
  /** Bulk operations that end as COMPLETED with only a part of the data. */
  partialOperations: number;
  /** Downloads that break off in the middle. */
  brokenDownloads: number;
  /** Downloads that end in the middle as if that were the end. */
  shortDownloads: number;
  /** Downloads that are answered as if their address had expired. */
  expiredDownloads: number;
  /** Answers to bulkOperationRunQuery that another app's operation runs. */
  busy: number;
}

export interface StandIn {
  readonly baseUrl: string;
  readonly accessToken: string;
  readonly world: StandInWorld;
  readonly troubles: Troubles;
  readonly bulk: BulkOperations;
  /** Names of the operations that were asked, in order. */
  readonly asked: string[];
  /** What it answers instead of letting anybody in. */
  status: number | undefined;
  /** Awaited before an answer is sent, after what it says was looked up. */
  pause: () => Promise<void>;
  close(): Promise<void>;
}

const none: Troubles = {
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

/** Takes one off; whether there was one. */
export function strikes(troubles: Troubles, trouble: keyof Troubles): boolean {
  if (troubles[trouble] <= 0) return false;
  troubles[trouble] -= 1;
  return true;
}

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly unknown[];
}

/** Cursors are places, as text. */
function pageOf(all: readonly unknown[], first: number, after: unknown): Page {
  const begin = typeof after === 'string' ? Number(after) : 0;
  const nodes = all.slice(begin, begin + first);
  const end = begin + nodes.length;
  return {
    pageInfo: { hasNextPage: end < all.length, endCursor: nodes.length > 0 ? String(end) : null },
    nodes,
  };
}

interface Asked {
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** Children a page, so that the samples have several. */
const childrenAPage = 2;

/** Shopify's Admin API for one shop, as far as it is asked here, over real HTTP. */
export async function startStandIn(world: StandInWorld): Promise<StandIn> {
  const troubles = { ...none };
  const accessToken = `shpat_${randomBytes(16).toString('hex')}`;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  const baseUrl = await listen(server);
  const bulk = new BulkOperations(world, troubles, baseUrl);
  let available = 2000;

  const standIn: StandIn = {
    baseUrl,
    accessToken,
    world,
    troubles,
    bulk,
    asked,
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
      return { subscriptionContracts: pageOf(changed, world.contractsAPage, after) };
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
          sellingPlans: pageOf(group.plans, childrenAPage, after),
        },
      };
    },
    NodesById: ({ ids }) => ({
      nodes: (ids as string[]).map((id) => (world.has(id) ? { id } : null)),
    }),
    RunBulkQuery: ({ query }) => ({ bulkOperationRunQuery: bulk.run(String(query)) }),
    BulkOperation: ({ id }) => ({ node: bulk.look(String(id)) }),
    RunningBulkQueries: () => ({ bulkOperations: { nodes: bulk.list() } }),
  };

  function contractPage(id: unknown, after: unknown, hasLines = false, hasAttempts = false) {
    const contract = contractOf(world, id);
    if (!contract) return null;
    const { node, lines, attempts } = contract;
    return {
      ...node,
      ...(hasLines && { lines: pageOf(lines, childrenAPage, after) }),
      ...(hasAttempts && { billingAttempts: pageOf(attempts, childrenAPage, after) }),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/results/')) return bulk.send(request, response);
    const body = await text(request);
    if (strikes(troubles, 'cut')) return void request.socket.destroy();
    if (request.method !== 'POST' || request.url !== '/admin/api/2026-01/graphql.json') {
      return say(response, 404, { errors: 'Not Found' });
    }
    if (request.headers['x-shopify-access-token'] !== accessToken) {
      return say(response, 401, { errors: '[API] Invalid API key or access token' });
    }
    if (standIn.status !== undefined) return say(response, standIn.status, { errors: 'No' });
    if (strikes(troubles, 'unavailable')) return say(response, 503, { errors: 'Unavailable' });
    if (strikes(troubles, 'tooMany')) {
      response.setHeader('retry-after', '0.001');
      return say(response, 429, { errors: 'Too many requests' });
    }
    const { query, variables } = JSON.parse(body) as Asked;
    const name = /^(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
    asked.push(name);
    const cost = { requestedQueryCost: 12, actualQueryCost: 10 as number | null };
    const throttleStatus = () => ({
      maximumAvailable: 2000,
      currentlyAvailable: available,
      restoreRate: 1000,
    });
    if (strikes(troubles, 'throttled')) {
      const extensions = { code: 'THROTTLED', documentation: 'https://shopify.dev' };
      return say(response, 200, {
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
    if (!found) return say(response, 200, { errors: [{ message: `What is ${name}?` }] });
    const data = structuredClone(found(variables, query));
    await standIn.pause();
    say(response, 200, {
      data,
      extensions: { cost: { ...cost, throttleStatus: throttleStatus() } },
    });
  }

  return standIn;
}

function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
