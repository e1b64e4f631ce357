import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { LineSource } from '../../../ingest/import.ts';
import { type Line, readLines } from '../../../ingest/lines.ts';
import { type ShopifySync, updateOperation } from '../store/syncs.ts';
import { PlatformError } from '../../errors.ts';
import { type BulkResult, IncompleteResultError, runToCompletion } from './bulk-operation.ts';
import { download } from './download.ts';
import { leadingGid, numberOf, parseGid } from '../api/gid.ts';
import type { SyncedShop } from '../sync/intake.ts';
import { jittered } from '../../backoff.ts';
import { bulkContracts, bulkPlanGroups } from '../api/queries.ts';
import { SortedIds } from '../../../ingest/snapshot.ts';

/** The result of a bulk query, on this machine. */
export interface DownloadedResult {
  /** When the query started, in epoch milliseconds by Shopify's clock. */
  readonly startedAt: number;
  /** Undefined if the result is empty. */
  readonly source: LineSource | undefined;
  /** Of all contracts, or of all selling plans, including refused ones. */
  readonly ids: SortedIds;
  /** Whether every line that Shopify counted was read, so that missing records may be deleted. */
  readonly isComplete: boolean;
}

export type BulkKind = 'plans' | 'contracts';

const kinds = {
  plans: { query: bulkPlanGroups, type: 'SellingPlan' },
  contracts: { query: bulkContracts, type: 'SubscriptionContract' },
} as const;

const maxAttempts = 3;

/**
 * Runs a bulk query, or resumes the one that an earlier process started, and downloads its result.
 * @throws PlatformError after three attempts without a complete result
 */
export async function fetchBulkResult(
  synced: SyncedShop,
  kind: BulkKind,
  { plansOperation, contractsOperation }: ShopifySync,
  folder: string,
): Promise<DownloadedResult> {
  const { client, sql, shop, clock, log } = synced;
  const { query } = kinds[kind];
  const file = path.join(folder, `${kind}.jsonl`);
  const saveOperation = (id: string | null) =>
    updateOperation(sql, shop.id, kind, id, new Date(clock.now()));
  let earlierOperation = kind === 'plans' ? plansOperation : contractsOperation;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await runToCompletion({ client, log, query, earlierOperation, saveOperation });
      return await downloadResult(result, kind, file, synced);
    } catch (error) {
      if (!(error instanceof IncompleteResultError)) throw error;
      await saveOperation(null);
      earlierOperation = null;
      if (attempt === maxAttempts) {
        throw new PlatformError(
          'unavailable',
          `${client.domain} returned no complete result in ${maxAttempts} bulk queries: ${error.message}. Nothing was deleted.`,
        );
      }
      log.warn({ shop: shop.id, kind, reason: error.message }, 'retrying a bulk query');
      await client.backoff.wait(jittered(attempt, client.backoff.random()), client.signal);
    }
  }
}

async function downloadResult(
  { startedAt, url, bytes, lines }: BulkResult,
  kind: BulkKind,
  file: string,
  { client, shop, log }: SyncedShop,
): Promise<DownloadedResult> {
  const { origin, backoff, signal } = client;
  const ids = new SortedIds();
  if (url === undefined) return { startedAt, source: undefined, ids, isComplete: true };
  await download({ url, origin, file, bytes, backoff, signal });

  let [read, unreadable] = [0, 0];
  for await (const some of linesIn(file)) {
    signal?.throwIfAborted();
    read += some.length;
    for (const { text } of some) {
      const gid = parseGid(leadingGid(text));
      if (!gid) unreadable += 1;
      else if (gid.type === kinds[kind].type) ids.add(numberOf(gid.key) ?? 0);
    }
  }
  if (bytes === undefined && read < lines) {
    throw new IncompleteResultError('lines of the result are missing');
  }
  const isComplete = unreadable === 0 && read === lines;
  if (!isComplete) {
    log.warn(
      { shop: shop.id, kind, lines, read, unreadable },
      'bulk result may be incomplete; not deleting missing records',
    );
  }
  const source = { name: `${client.domain} ${kind}`, lines: linesIn(file) };
  return { startedAt, source, ids, isComplete };
}

/** Opens the file only when it is read, because a sync that is stopped earlier removes it. */
async function* linesIn(file: string): AsyncGenerator<readonly Line[]> {
  yield* readLines(createReadStream(file));
}
