import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../../src/json.ts';
import type { LineSource } from '../../../src/ingest/import.ts';
import { parseGid } from '../../../src/platforms/shopify/api/ids.ts';
import { bulkContracts, bulkPlanGroups } from '../../../src/platforms/shopify/api/queries.ts';
import { bulkLines } from './schema/bulk-lines.ts';
import type { Root } from './schema/execution.ts';

/** As Shopify returns it; a test may change any field. */
export interface Node extends Record<string, unknown> {
  id: string;
}

export interface StandInContract {
  node: Node;
  lines: Node[];
  attempts: Node[];
}

export interface StandInGroup {
  node: Node;
  plans: Node[];
}

/** What a shop has in Shopify; a test may change it at any time. */
export class StandInWorld {
  readonly contracts = new Map<string, StandInContract>();
  readonly groups = new Map<string, StandInGroup>();
  contractsPerPage = 3;
  readonly shop = { myshopifyDomain: 'sample-shop.myshopify.com', currencyCode: 'USD' };
  scopes = ['read_own_subscription_contracts', 'read_products', 'read_customers', 'read_orders'];
  /** Contracts that exist but are missing from bulk results. */
  readonly hidden = new Set<string>();

  /** @param bulkResults texts of bulk results, with children before or after their parents */
  constructor(...bulkResults: string[]) {
    const nodes = bulkResults.flatMap((result) =>
      result
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Node),
    );
    for (const node of nodes) {
      if (node['__parentId'] !== undefined) continue;
      if (node.id.includes('/SubscriptionContract/')) {
        this.contracts.set(node.id, { node, lines: [], attempts: [] });
      } else this.groups.set(node.id, { node, plans: [] });
    }
    for (const { __parentId: parent, ...rest } of nodes) {
      if (parent === undefined) continue;
      const child = rest as Node;
      const contract = this.contracts.get(String(parent));
      if (child.id.includes('/SubscriptionLine/')) contract?.lines.push(child);
      else if (contract) contract.attempts.push(attemptOf(child));
      else this.groups.get(String(parent))?.plans.push(child);
    }
  }

  /** What the Admin API can be asked about the shop. */
  readonly root: Root = {
    subscriptionContracts: ({ query, sortKey }) => {
      const contracts = [...this.contracts.values()];
      if (sortKey === 'UPDATED_AT') contracts.sort((a, b) => updatedAt(a) - updatedAt(b));
      if (typeof query !== 'string') return contracts.map(contractValue);
      const since = sinceOf(query, /^updated_at:>='(.+)'$/);
      return contracts.filter((each) => updatedAt(each) >= since).map(contractValue);
    },
    subscriptionBillingAttempts: ({ query }) => {
      const since = sinceOf(query, /^created_at:>='(.+)'$/);
      return [...this.contracts.values()].flatMap(({ node, attempts }) =>
        attempts
          .filter(({ createdAt }) => Date.parse(String(createdAt)) >= since)
          .map((attempt) => ({ ...attempt, subscriptionContract: { id: node.id } })),
      );
    },
    orders: ({ query }) => {
      const since = sinceOf(query, /^updated_at:>='(.+)' AND \(financial_status:refunded OR .+\)$/);
      return [...this.contracts.values()]
        .flatMap(ordersOf)
        .filter((order) => refundedAt(order) >= since);
    },
    subscriptionContract: ({ id }) => this.#find(id, 'SubscriptionContract'),
    sellingPlanGroups: () => [...this.groups.values()].map(groupValue),
    sellingPlanGroup: ({ id }) => this.#find(id, 'SellingPlanGroup'),
    node: ({ id }) => this.#find(id),
    shop: () => this.shop,
    currentAppInstallation: () => ({ accessScopes: this.scopes.map((handle) => ({ handle })) }),
    nodes: ({ ids }) => (ids as string[]).map((id) => this.#find(id)),
  };

  #find(id: unknown, type = parseGid(id)?.type): Node | undefined {
    const contract = this.contracts.get(String(id));
    if (contract && type === 'SubscriptionContract') return contractValue(contract);
    const group = this.groups.get(String(id));
    if (group && type === 'SellingPlanGroup') return groupValue(group);
    const plans = [...this.groups.values()].flatMap((each) => each.plans);
    return plans.find((plan) => plan.id === id);
  }

  /** The lines of a bulk query's result. */
  bulkResult(query: string, isGrouped = false): string[] {
    const { subscriptionContracts = () => [] } = this.root;
    return bulkLines(
      {
        ...this.root,
        subscriptionContracts: (args) =>
          (subscriptionContracts(args) as Node[]).filter(({ id }) => !this.hidden.has(id)),
      },
      query,
      isGrouped,
    );
  }
}

function sinceOf(query: unknown, pattern: RegExp): number {
  const since = Date.parse(pattern.exec(String(query))?.[1] ?? '');
  if (Number.isNaN(since)) throw new Error(`What is ${String(query)}?`);
  return since;
}

interface Order extends Node {
  readonly refunds?: readonly { readonly processedAt: string }[];
}

/** The orders of a contract, each with a line that the contract is for, and one that it is not. */
function ordersOf({ node, attempts }: StandInContract): Order[] {
  const states = attempts.map(({ state }) => (isObject(state) ? state['order'] : null));
  const orders = [node['originOrder'], ...states].filter(isObject) as unknown as Order[];
  return orders.map((order) => ({
    ...order,
    lineItems: [{ id: node.id }, null].map((contract, index) => ({
      id: `gid://shopify/LineItem/${order.id.split('/').at(-1)}${index}`,
      contract,
    })),
  }));
}

/** A refund is the last change of an order. */
const refundedAt = ({ refunds = [] }: Order) =>
  Math.max(...refunds.map(({ processedAt }) => Date.parse(processedAt)));

const updatedAt = ({ node }: StandInContract) => Date.parse(String(node['updatedAt']));

function contractValue({ node, lines, attempts }: StandInContract): Node {
  return { ...node, lines, billingAttempts: attempts };
}

/** Bulk results have the code of an error under a name of its own for each kind of error. */
function attemptOf(line: Node): Node {
  const { state } = line;
  if (!isObject(state) || !isObject(state['error'])) return line;
  const [name = '', code] = Object.entries(state['error'])[0] ?? [];
  const kind = `${name.charAt(0).toUpperCase()}${name.slice(1).replace('Code', '')}`;
  const error = { __typename: `SubscriptionBillingAttempt${kind}Error`, code };
  return { ...line, state: { ...state, error } };
}

function groupValue({ node, plans }: StandInGroup): Node {
  return { ...node, sellingPlans: plans };
}

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');

/** Eleven contracts, of which a shop in USD accepts ten, and seven selling plans. */
export function sampleWorld(): StandInWorld {
  return new StandInWorld(
    read('orders/subscription_contracts.bulk.jsonl'),
    read('samples/selling_plan_groups.bulk.jsonl'),
  );
}

/** The whole world, as files. */
export function sourcesOf(world: StandInWorld): LineSource[] {
  return [bulkPlanGroups, bulkContracts].map((query) => {
    async function* lines() {
      yield world.bulkResult(query).map((text, index) => ({ number: index + 1, text }));
    }
    return { name: query === bulkContracts ? 'contracts' : 'groups', lines: lines() };
  });
}
