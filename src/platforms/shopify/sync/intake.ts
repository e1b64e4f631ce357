import type { ImportCounts, LineSource } from '../../../ingest/import.ts';
import { type Line, lineOf } from '../../../ingest/lines.ts';
import { type Intake, storeRecords, totalsOf } from '../../intake.ts';
import type { ShopifyClient } from '../api/client.ts';
import { type ContractNodes, type PlanGroupNodes, fetchContract } from '../api/fetch.ts';
import { readBulkResults } from '../bulk/records.ts';

/** A shop that is kept in sync with Shopify. */
export interface SyncedShop extends Intake {
  readonly client: ShopifyClient;
  /** Where Shopify can send webhooks. */
  readonly webhookAddress?: string | undefined;
}

/** Stores records given as lines. */
export function storeLines(synced: SyncedShop, lines: LineSource['lines']): Promise<ImportCounts> {
  return storeRecords(synced, synced.client.domain, lines);
}

/**
 * Stores results of bulk queries. Stops between two transactions once the intake's signal is
 * aborted.
 * @param sources lines with one Shopify node each
 */
export function storeBulkResults(
  synced: SyncedShop,
  sources: readonly LineSource[],
): Promise<ImportCounts> {
  const { shop, signal } = synced;
  const abortable = sources.map(({ name, lines }) => ({
    name,
    lines: untilAborted(signal, lines),
  }));
  return storeLines(synced, readBulkResults(abortable, shop));
}

/** Stores nodes that were fetched individually, in the same form. */
export function storeNodes(synced: SyncedShop, nodes: Iterable<Line>): Promise<ImportCounts> {
  return storeBulkResults(synced, [{ name: synced.client.domain, lines: oneBatch(nodes) }]);
}

/** Fetched before they are stored together, so that little is lost if the process is killed. */
const contractsPerBatch = 100;

/**
 * Fetches contracts with all of their lines and attempts, and stores them. One that was deleted in the meantime is
 * noticed by the next full sync.
 * @param ids GIDs
 */
export async function fetchAndStore(synced: SyncedShop, ids: readonly string[]) {
  let [written, refused] = [0, 0];
  for (let begin = 0; begin < ids.length; begin += contractsPerBatch) {
    const whole: ContractNodes[] = [];
    for (const id of ids.slice(begin, begin + contractsPerBatch)) {
      const contract = await fetchContract(synced.client, id);
      if (contract) whole.push(contract);
    }
    const counts = await storeNodes(synced, linesOfContracts(whole));
    const totals = totalsOf(counts);
    written += totals.written;
    refused += totals.refused;
  }
  return { written, refused };
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

export async function* oneBatch(lines: Iterable<Line>): AsyncGenerator<Line[]> {
  yield [...lines];
}

/** Converts contracts to bulk result lines: one node per line, children with `__parentId`. */
export function* linesOfContracts(contracts: readonly ContractNodes[]): Generator<Line> {
  let number = 0;
  for (const { contract, lines, attempts } of contracts) {
    yield lineOf((number += 1), contract);
    for (const child of [...lines, ...attempts]) {
      const value = { ...child, __parentId: contract['id'] };
      yield lineOf((number += 1), value);
    }
  }
}

/** The same for a selling plan group. */
export function* linesOfPlanGroup({ group, sellingPlans }: PlanGroupNodes): Generator<Line> {
  const plans = sellingPlans.map((plan) => ({ ...plan, __parentId: group['id'] }));
  for (const [index, value] of [group, ...plans].entries()) {
    yield lineOf(index + 1, value);
  }
}

export function deletionOf(record: 'plan' | 'subscription', id: number): Line {
  return lineOf(id, { type: 'delete', record, id });
}
