import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { upsertFeed } from '../../../store/feeds/feeds.ts';
import { type ShopifySync, completeShopifySync } from '../store/syncs.ts';
import { bringResult } from '../bulk/bulk-result.ts';
import { type SyncedShop, countRefused, countWritten, takeNodes } from './intake.ts';
import { reconcile } from './reconcile.ts';

/** What a synchronisation did. */
export interface SyncReport {
  readonly kind: 'whole' | 'changes';
  /** How many were read. */
  readonly contracts: number;
  readonly written: number;
  readonly refused: number;
  readonly deleted: number;
}

/**
 * Brings all contracts and selling plans, and deletes what Shopify has no more. Ended in the middle,
 * by whatever, it goes on with the same bulk operations the next time.
 * @throws ShopifyError
 */
export async function syncWhole(synced: SyncedShop, state: ShopifySync): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  const begunAt = state.operationsBegunAt ?? new Date(clock.now());
  const folder = await mkdtemp(path.join(tmpdir(), 'retention-sync-'));
  try {
    const plans = await bringResult(synced, 'plans', state, folder);
    const contracts = await bringResult(synced, 'contracts', state, folder);
    const sources = [plans, contracts].flatMap(({ source }) => source ?? []);
    const counts = await takeNodes(synced, sources);
    const deleted = await reconcile(synced, contracts, plans);
    await completeShopifySync(sql, shop.id, {
      watermark: new Date(contracts.startedAt),
      reconciledAt: begunAt,
    });
    await upsertFeed(sql, shop.id, 'shopify', { completedAt: new Date(clock.now()) });
    return {
      kind: 'whole',
      contracts: contracts.ids.count,
      written: countWritten(counts),
      refused: countRefused(counts),
      deleted,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
