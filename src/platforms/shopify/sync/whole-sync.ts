import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ShopifySync, completeShopifySync } from '../store/syncs.ts';
import { bringResult } from '../bulk/bulk-result.ts';
import { countRefused, countWritten } from '../../intake.ts';
import type { SyncReport } from '../../platform.ts';
import { type SyncedShop, takeResults } from './intake.ts';
import { reconcile } from './reconcile.ts';

/**
 * Brings all contracts and selling plans, and deletes what Shopify has no more. Ended in the middle,
 * by whatever, it goes on with the same bulk operations the next time.
 * @throws PlatformError
 */
export async function syncWhole(synced: SyncedShop, state: ShopifySync): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  const begunAt = state.operationsBegunAt ?? new Date(clock.now());
  const folder = await mkdtemp(path.join(tmpdir(), 'retention-sync-'));
  try {
    const plans = await bringResult(synced, 'plans', state, folder);
    const contracts = await bringResult(synced, 'contracts', state, folder);
    const sources = [plans, contracts].flatMap(({ source }) => source ?? []);
    const counts = await takeResults(synced, sources);
    const deleted = await reconcile(synced, contracts, plans);
    await completeShopifySync(sql, shop.id, {
      watermark: new Date(contracts.startedAt),
      reconciledAt: begunAt,
    });
    return {
      kind: 'whole',
      read: { contracts: contracts.ids.count },
      written: countWritten(counts),
      refused: countRefused(counts),
      deleted,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
