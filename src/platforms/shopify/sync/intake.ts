import type { Clock } from '../../../clock.ts';
import type { ImportShop } from '../../../ingest/apply.ts';
import { type ImportCounts, type LineSource, importRecords } from '../../../ingest/import.ts';
import type { Line } from '../../../ingest/lines.ts';
import type { Log } from '../../../log.ts';
import type { Sql } from '../../../store/database.ts';
import type { FeedName } from '../../../vocabulary.ts';
import { readBulkResults } from '../bulk/bulk.ts';
import type { ShopifyClient } from '../api/client.ts';
import type { WholeContract, WholePlanGroup } from '../api/fetch.ts';

/** A shop here that is kept as it is in Shopify. */
export interface SyncedShop {
  readonly client: ShopifyClient;
  /** A connection that can write. */
  readonly sql: Sql;
  readonly shop: ImportShop;
  readonly clock: Clock;
  readonly log: Log;
  /** `shopify`, if nothing is said. */
  readonly feed?: FeedName;
  /** Where more are good than what suits every database. */
  readonly linesPerTransaction?: number | undefined;
}

/** More of them tell nothing new, and there may be one for each contract, every day. */
const mostRefusalsInLog = 100;

/**
 * Stores what Shopify told: results of bulk queries, or contracts in the same form. It ends between
 * two transactions once the client's signal is aborted.
 * @param sources lines with a node of Shopify's each
 */
export function takeNodes(
  synced: SyncedShop,
  sources: readonly LineSource[],
): Promise<ImportCounts> {
  const { client, shop } = synced;
  const heeding = sources.map(({ name, lines }) => ({ name, lines: untilStopped(client, lines) }));
  return takeRecords(synced, readBulkResults(heeding, shop));
}

async function* untilStopped(
  { signal }: ShopifyClient,
  lines: LineSource['lines'],
): AsyncGenerator<readonly Line[]> {
  for await (const some of lines) {
    signal?.throwIfAborted();
    yield some;
  }
}

/** Stores records, as lines. */
export async function takeRecords(
  { client, sql, shop, clock, log, feed = 'shopify', linesPerTransaction }: SyncedShop,
  lines: AsyncIterable<readonly Line[]>,
): Promise<ImportCounts> {
  let refusals = 0;
  return importRecords([{ name: client.domain, lines }], {
    sql,
    shop,
    feed,
    clock,
    log,
    isFromFeed: true,
    // Whether all has come is known to whoever asks Shopify.
    isPart: true,
    ...(linesPerTransaction !== undefined && { linesPerTransaction }),
    refuse(_source, line, reason) {
      client.signal?.throwIfAborted();
      refusals += 1;
      if (refusals > mostRefusalsInLog) return;
      log.warn({ shop: shop.id, what: nameOf(line), reason }, 'not taken in from Shopify');
    },
    progress: () => client.signal?.throwIfAborted(),
  });
}

/** What a refused line is about: the GID of a node, or the type and number of a record. */
function nameOf({ text }: Line): string {
  if (!text.startsWith('{')) return text.slice(0, 150);
  const { type, id } = JSON.parse(text);
  return `${type} ${id}`;
}

/** Contracts in the form that a bulk query has them in: one node a line, children with their parent. */
export function* linesOfContracts(contracts: readonly WholeContract[]): Generator<Line> {
  let number = 0;
  for (const { contract, lines, attempts } of contracts) {
    yield { number: (number += 1), text: JSON.stringify(contract) };
    for (const child of [...lines, ...attempts]) {
      const node = { ...child, __parentId: contract['id'] };
      yield { number: (number += 1), text: JSON.stringify(node) };
    }
  }
}

/** The same of a selling plan group. */
export function* linesOfPlanGroup({ group, sellingPlans }: WholePlanGroup): Generator<Line> {
  const plans = sellingPlans.map((plan) => ({ ...plan, __parentId: group['id'] }));
  for (const [index, node] of [group, ...plans].entries()) {
    yield { number: index + 1, text: JSON.stringify(node) };
  }
}

export function deletionOf(record: 'plan' | 'subscription', id: number): Line {
  return { number: id, text: JSON.stringify({ type: 'delete', record, id }) };
}

export function countRefused(counts: ImportCounts): number {
  return Object.values(counts).reduce((sum, { refused }) => sum + refused, 0);
}

/** Those that said something new. */
export function countWritten(counts: ImportCounts): number {
  return Object.values(counts).reduce((sum, { stored, replaced }) => sum + stored + replaced, 0);
}
