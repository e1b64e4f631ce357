import type { ImportCounts, LineSource } from '../../../ingest/import.ts';
import { type Line, lineOf } from '../../../ingest/lines.ts';
import { type Intake, takeRecords } from '../../intake.ts';
import type { ShopifyClient } from '../api/client.ts';
import type { ContractNodes, PlanGroupNodes } from '../api/fetch.ts';
import { readBulkResults } from '../bulk/bulk.ts';

/** A shop here that is kept as it is in Shopify. */
export interface SyncedShop extends Intake {
  readonly client: ShopifyClient;
}

/** Stores records, as lines. */
export function take(synced: SyncedShop, lines: LineSource['lines']): Promise<ImportCounts> {
  return takeRecords(synced, synced.client.domain, lines);
}

/**
 * Stores results of bulk queries. It ends between two transactions once the intake's signal is aborted.
 * @param sources lines with a node of Shopify's each
 */
export function takeResults(
  synced: SyncedShop,
  sources: readonly LineSource[],
): Promise<ImportCounts> {
  const { shop, signal } = synced;
  const heeding = sources.map(({ name, lines }) => ({ name, lines: untilAborted(signal, lines) }));
  return take(synced, readBulkResults(heeding, shop));
}

/** Stores what was fetched by itself: nodes in the same form, in memory. */
export function takeNodes(synced: SyncedShop, nodes: Iterable<Line>): Promise<ImportCounts> {
  return takeResults(synced, [{ name: synced.client.domain, lines: once(nodes) }]);
}

async function* untilAborted(
  signal: AbortSignal | undefined,
  lines: LineSource['lines'],
): AsyncGenerator<readonly Line[]> {
  for await (const some of lines) {
    signal?.throwIfAborted();
    yield some;
  }
}

export async function* once(lines: Iterable<Line>): AsyncGenerator<Line[]> {
  yield [...lines];
}

/** Contracts in the form that a bulk query has them in: one node a line, children with their parent. */
export function* linesOfContracts(contracts: readonly ContractNodes[]): Generator<Line> {
  let number = 0;
  for (const { contract, lines, attempts } of contracts) {
    yield lineOf({ number: (number += 1), value: contract });
    for (const child of [...lines, ...attempts]) {
      const value = { ...child, __parentId: contract['id'] };
      yield lineOf({ number: (number += 1), value });
    }
  }
}

/** The same of a selling plan group. */
export function* linesOfPlanGroup({ group, sellingPlans }: PlanGroupNodes): Generator<Line> {
  const plans = sellingPlans.map((plan) => ({ ...plan, __parentId: group['id'] }));
  for (const [index, value] of [group, ...plans].entries()) {
    yield lineOf({ number: index + 1, value });
  }
}

export function deletionOf(record: 'plan' | 'subscription', id: number): Line {
  return lineOf({ number: id, value: { type: 'delete', record, id } });
}
