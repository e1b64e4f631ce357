import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Node = Readonly<Record<string, unknown>>;

/** What Shopify would say of one shop; a test changes it. */
export interface ShopifyWorld {
  /** By their numbers. */
  readonly contracts: Map<number, Node>;
  readonly planGroups: Map<number, Node>;
  /** What was asked for, oldest first: `Contract 1001`. */
  readonly asked: string[];
  /** Awaited before each answer, after what it says was read. */
  pause: () => Promise<void>;
}

/** Answers the queries that the worker sends as Shopify's Admin API does. */
export async function startStandIn() {
  const world: ShopifyWorld = {
    contracts: new Map(),
    planGroups: new Map(),
    asked: [],
    pause: async () => {},
  };
  const numberOf = (gid: string) => Number(gid.split('/').at(-1));
  const answers: Readonly<Record<string, (variables: { id: string; ids: string[] }) => unknown>> = {
    Contract: ({ id }) => ({ subscriptionContract: world.contracts.get(numberOf(id)) ?? null }),
    PlanGroup: ({ id }) => ({ sellingPlanGroup: world.planGroups.get(numberOf(id)) ?? null }),
    NodesById: ({ ids }) => {
      const plans = [...world.planGroups.values()].flatMap(
        (group) => (group['sellingPlans'] as { nodes: { id: string }[] }).nodes,
      );
      return { nodes: ids.map((id) => plans.find((plan) => plan.id === id) ?? null) };
    },
  };
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    const { query, variables } = JSON.parse(text);
    const operation = /^query (\w+)/.exec(query)?.[1] ?? '';
    world.asked.push(`${operation} ${variables.id ? numberOf(variables.id) : ''}`.trim());
    const body = JSON.stringify({ data: answers[operation]?.(variables) });
    await world.pause();
    response.setHeader('content-type', 'application/json').end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    world,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const connection = (nodes: readonly Node[]) => ({
  pageInfo: { hasNextPage: false, endCursor: null },
  nodes,
});

interface ContractOptions {
  readonly customerId?: number;
  readonly status?: string;
  readonly updatedAt?: string;
  readonly title?: string;
  /** Numbers of attempts that were paid. */
  readonly paid?: readonly number[];
}

/** A monthly contract of one line at 10.00 on selling plan 301, as Shopify answers it. */
export function contractNode(
  id: number,
  {
    customerId = 500_000 + id,
    status = 'ACTIVE',
    updatedAt = '2026-11-01T00:00:00Z',
    title = 'Coffee',
    paid = [],
  }: ContractOptions = {},
): Node {
  return {
    id: `gid://shopify/SubscriptionContract/${id}`,
    status,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt,
    currencyCode: 'USD',
    nextBillingDate: '2026-12-01T00:00:00Z',
    lastPaymentStatus: 'SUCCEEDED',
    billingPolicy: { interval: 'MONTH', intervalCount: 1 },
    deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
    customer: { id: `gid://shopify/Customer/${customerId}` },
    originOrder: null,
    lines: connection([
      {
        id: `gid://shopify/SubscriptionLine/00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
        title,
        variantTitle: null,
        quantity: 1,
        productId: 'gid://shopify/Product/11',
        variantId: 'gid://shopify/ProductVariant/12',
        requiresShipping: true,
        sellingPlanId: 'gid://shopify/SellingPlan/301',
        sellingPlanName: 'Monthly',
        currentPrice: { amount: '10.00', currencyCode: 'USD' },
      },
    ]),
    billingAttempts: connection(
      paid.map((attempt) => ({
        id: `gid://shopify/SubscriptionBillingAttempt/${attempt}`,
        createdAt: '2026-11-01T00:00:00Z',
        completedAt: '2026-11-01T00:01:00Z',
        originTime: '2026-11-01T00:00:00Z',
        ready: true,
        errorCode: null,
      })),
    ),
  };
}

/** A group of monthly selling plans without a discount. */
export function planGroupNode(id: number, name: string, planIds: readonly number[]): Node {
  return {
    id: `gid://shopify/SellingPlanGroup/${id}`,
    name,
    productsCount: { count: 3 },
    sellingPlans: connection(
      planIds.map((planId) => ({
        id: `gid://shopify/SellingPlan/${planId}`,
        name: `Plan ${planId}`,
        category: 'SUBSCRIPTION',
        billingPolicy: { interval: 'MONTH', intervalCount: 1 },
        deliveryPolicy: { interval: 'MONTH', intervalCount: 1 },
        pricingPolicies: [],
      })),
    ),
  };
}
