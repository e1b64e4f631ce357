import { advanceWatermark } from '../store/syncs.ts';
import { type ContractNodes, fetchContract } from '../api/fetch.ts';
import { countRefused, countWritten } from '../../intake.ts';
import type { SyncReport } from '../../platform.ts';
import { type SyncedShop, linesOfContracts, storeNodes } from './intake.ts';
import { changedContracts } from '../api/queries.ts';

/**
 * Changes from this long before the watermark are fetched again: Shopify's index lags behind its
 * data, and several changes may have the same time.
 */
const overlapMilliseconds = 5 * 60_000;

/** Fetching more than these one by one takes longer than a bulk query. */
const maxContracts = 2_000;

interface Changed {
  readonly subscriptionContracts: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly nodes: readonly { readonly id: string; readonly updatedAt: string }[];
  };
}

/**
 * Fetches the contracts that changed since the watermark, oldest change first. The watermark
 * advances after each stored page, so that the next sync after a crash continues from there.
 * @returns undefined if so many changed that a full sync is faster
 * @throws PlatformError
 */
export async function syncChanges(
  synced: SyncedShop,
  watermark: Date,
): Promise<SyncReport | undefined> {
  const { client, sql, shop, clock } = synced;
  const since = new Date(watermark.getTime() - overlapMilliseconds);
  const filter = `updated_at:>='${since.toISOString()}'`;
  let [contracts, written, refused] = [0, 0, 0];
  let after: string | null = null;
  // By Shopify's clock, but not ahead of this machine's. The pages have everything that changed
  // before.
  let startedAt: number | undefined;
  for (;;) {
    const page: Changed = await client.query(changedContracts, { filter, after });
    startedAt ??= Math.min(client.usage.answeredAt ?? Infinity, clock.now());
    const { nodes, pageInfo } = page.subscriptionContracts;
    contracts += nodes.length;
    if (contracts > maxContracts) return undefined;

    const whole: ContractNodes[] = [];
    for (const { id } of nodes) {
      // A contract deleted in the meantime is noticed by the next full sync.
      const contract = await fetchContract(client, id);
      if (contract) whole.push(contract);
    }
    if (whole.length > 0) {
      const counts = await storeNodes(synced, linesOfContracts(whole));
      written += countWritten(counts);
      refused += countRefused(counts);
    }
    const last = Date.parse(nodes.at(-1)?.updatedAt ?? '');
    const to = pageInfo.hasNextPage ? Math.min(last, startedAt) : startedAt;
    if (!Number.isNaN(to)) await advanceWatermark(sql, shop.id, new Date(to));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return { kind: 'changes', read: { contracts }, written, refused, deleted: 0 };
}
