import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { LineSource } from '../../../src/ingest/import.ts';

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
      else if (contract) contract.attempts.push(child);
      else this.groups.get(String(parent))?.plans.push(child);
    }
  }

  has(id: string): boolean {
    return (
      this.contracts.has(id) ||
      this.groups.has(id) ||
      [...this.groups.values()].some(({ plans }) => plans.some((plan) => plan.id === id))
    );
  }

  /** The result of a bulk query, flat: parents first. */
  bulkResult(of: 'contracts' | 'groups'): string[] {
    const families: { node: Node; children: Node[] }[] =
      of === 'contracts'
        ? [...this.contracts.values()]
            .filter(({ node }) => !this.hidden.has(node.id))
            .map(({ node, lines, attempts }) => ({
              node,
              children: [...lines, ...attempts],
            }))
        : [...this.groups.values()].map(({ node, plans }) => ({ node, children: plans }));
    return [
      ...families.map(({ node }) => JSON.stringify(node)),
      ...families.flatMap(({ node, children }) =>
        children.map((child) => JSON.stringify({ ...child, __parentId: node.id })),
      ),
    ];
  }
}

export function contractOf(world: StandInWorld, id: unknown): StandInContract | undefined {
  return world.contracts.get(String(id));
}

export function groupOf(world: StandInWorld, id: unknown): StandInGroup | undefined {
  return world.groups.get(String(id));
}

const samples = path.join(import.meta.dirname, 'samples');

const read = (name: string) => readFileSync(path.join(samples, name), 'utf8');

/** Eleven contracts, of which a shop in USD accepts ten, and seven selling plans. */
export function sampleWorld(): StandInWorld {
  return new StandInWorld(
    read('subscription_contracts.bulk.grouped.jsonl'),
    read('selling_plan_groups.bulk.jsonl'),
  );
}

/** The whole world, as files. */
export function sourcesOf(world: StandInWorld): LineSource[] {
  return (['groups', 'contracts'] as const).map((name) => {
    async function* lines() {
      yield world.bulkResult(name).map((text, index) => ({ number: index + 1, text }));
    }
    return { name, lines: lines() };
  });
}
