import { PlatformError } from '../../errors.ts';
import type { ShopifyClient } from './client.ts';
import { contract, contractAttempts, contractLines, planGroup } from './queries.ts';

type Node = Readonly<Record<string, unknown>>;

interface Connection {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly Node[];
}

/** A contract with all of its lines and billing attempts, as Shopify returns them. */
export interface ContractNodes {
  readonly contract: Node;
  readonly lines: readonly Node[];
  readonly attempts: readonly Node[];
}

/** A selling plan group with all of its selling plans, as Shopify returns them. */
export interface PlanGroupNodes {
  readonly group: Node;
  readonly sellingPlans: readonly Node[];
}

type ContractPage = Node & {
  readonly lines?: Connection;
  readonly billingAttempts?: Connection;
};

/** A contract that changes while its pages are read is read again from the start. */
const maxAttempts = 5;

/**
 * @param id the GID of a contract
 * @returns undefined if the contract no longer exists
 * @throws PlatformError
 */
export async function fetchContract(
  client: ShopifyClient,
  id: string,
): Promise<ContractNodes | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const first = await readContract(client, contract, id, null);
    if (!first) return undefined;
    const { lines, billingAttempts, ...fields } = first;
    const allLines = await readAllPages(lines, async (after) => {
      const next = await readContract(client, contractLines, id, after);
      return isSameState(first, next) ? next?.lines : undefined;
    });
    const allAttempts = await readAllPages(billingAttempts, async (after) => {
      const next = await readContract(client, contractAttempts, id, after);
      return isSameState(first, next) ? next?.billingAttempts : undefined;
    });
    if (allLines && allAttempts)
      return { contract: fields, lines: allLines, attempts: allAttempts };
  }
  throw new PlatformError(
    'unavailable',
    `${client.domain} changed a contract faster than its pages could be read.`,
  );
}

function isSameState(first: ContractPage, next: ContractPage | null): boolean {
  return next?.['updatedAt'] === first['updatedAt'];
}

async function readContract(
  client: ShopifyClient,
  document: string,
  id: string,
  after: string | null,
): Promise<ContractPage | null> {
  const { subscriptionContract } = await client.query<{
    subscriptionContract: ContractPage | null;
  }>(document, { id, after });
  return subscriptionContract;
}

/**
 * @param id the GID of a selling plan group
 * @returns undefined if the group no longer exists
 * @throws PlatformError
 */
export async function fetchPlanGroup(
  client: ShopifyClient,
  id: string,
): Promise<PlanGroupNodes | undefined> {
  const read = async (after: string | null) => {
    const { sellingPlanGroup } = await client.query<{
      sellingPlanGroup: (Node & { readonly sellingPlans?: Connection }) | null;
    }>(planGroup, { id, after });
    return sellingPlanGroup;
  };
  const first = await read(null);
  if (!first) return undefined;
  const { sellingPlans, ...group } = first;
  const all = await readAllPages(sellingPlans, async (after) => (await read(after))?.sellingPlans);
  return all && { group, sellingPlans: all };
}

/** The nodes of all pages; undefined if `read` finds that the state has changed in between. */
async function readAllPages(
  first: Connection | undefined,
  read: (after: string | null) => Promise<Connection | undefined>,
): Promise<Node[] | undefined> {
  const nodes: Node[] = [];
  for (let page = first; page; page = await read(page.pageInfo.endCursor)) {
    for (const node of page.nodes) nodes.push(node);
    if (!page.pageInfo.hasNextPage) return nodes;
  }
  return undefined;
}
