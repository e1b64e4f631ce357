import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { LineSource } from '../../../ingest/import.ts';
import { readLines } from '../../../ingest/lines.ts';
import type { ShopifySync } from '../store/syncs.ts';
import { updateOperation } from '../store/syncs.ts';
import { PlatformError } from '../../errors.ts';
import { type BulkResult, NotWhole, runToEnd } from './bulk-operation.ts';
import { download } from './download.ts';
import { gidAtBeginning, numberOf, parseGid } from '../api/gid.ts';
import type { SyncedShop } from '../sync/intake.ts';
import { jittered } from '../../pauses.ts';
import { bulkContracts, bulkPlanGroups } from '../api/queries.ts';
import { SortedIds } from './sorted-ids.ts';

/** The whole of a bulk query's result, on this machine. */
export interface BroughtResult {
  /** When Shopify began to look, epoch milliseconds by its clock. */
  readonly startedAt: number;
  /** Undefined where there is nothing. */
  readonly source: LineSource | undefined;
  /** Of the contracts, or of the selling plans, whether or not they can be taken in. */
  readonly ids: SortedIds;
  /** Whether what is not in it is not there. */
  readonly tellsWhatIsGone: boolean;
}

export type BulkKind = 'plans' | 'contracts';

const kinds = {
  plans: { query: bulkPlanGroups, type: 'SellingPlan' },
  contracts: { query: bulkContracts, type: 'SubscriptionContract' },
} as const;

const attempts = 3;

/**
 * Runs a bulk query, or takes up the one that an earlier process has begun, and brings its result.
 * @throws PlatformError once it has come to nothing three times
 */
export async function bringResult(
  synced: SyncedShop,
  kind: BulkKind,
  { plansOperation, contractsOperation }: ShopifySync,
  folder: string,
): Promise<BroughtResult> {
  const { client, sql, shop, clock, log } = synced;
  const { query } = kinds[kind];
  const file = path.join(folder, `${kind}.jsonl`);
  const note = (id: string | null) =>
    updateOperation(sql, shop.id, kind, id, new Date(clock.now()));
  let begun = kind === 'plans' ? plansOperation : contractsOperation;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await runToEnd({ client, log, query, begun, begin: note });
      return await bring(result, kind, file, synced);
    } catch (error) {
      if (!(error instanceof NotWhole)) throw error;
      await note(null);
      begun = null;
      if (attempt === attempts) {
        throw new PlatformError(
          'unavailable',
          `${client.domain} gave no whole result in ${attempts} bulk queries: ${error.message}. Nothing was deleted.`,
        );
      }
      log.warn({ shop: shop.id, kind, reason: error.message }, 'running a bulk query again');
      await client.pauses.wait(jittered(attempt, client.pauses.random()), client.signal);
    }
  }
}

async function bring(
  { startedAt, url, bytes, lines }: BulkResult,
  kind: BulkKind,
  file: string,
  { client, shop, log }: SyncedShop,
): Promise<BroughtResult> {
  const { pauses, signal } = client;
  const ids = new SortedIds();
  if (url === undefined) return { startedAt, source: undefined, ids, tellsWhatIsGone: true };
  await download({ url, file, bytes, pauses, signal });

  let [read, unreadable] = [0, 0];
  for await (const some of readLines(createReadStream(file))) {
    signal?.throwIfAborted();
    read += some.length;
    for (const { text } of some) {
      const gid = parseGid(gidAtBeginning(text));
      if (!gid) unreadable += 1;
      else if (gid.type === kinds[kind].type) ids.add(numberOf(gid.key) ?? 0);
    }
  }
  if (bytes === undefined && read < lines) throw new NotWhole('lines of its result are missing');
  const tellsWhatIsGone = unreadable === 0 && read === lines;
  if (!tellsWhatIsGone) {
    log.warn(
      { shop: shop.id, kind, lines, read, unreadable },
      'the result has other lines than Shopify says, so nothing is deleted by it',
    );
  }
  const source = { name: `${client.domain} ${kind}`, lines: readLines(createReadStream(file)) };
  return { startedAt, source, ids, tellsWhatIsGone };
}
