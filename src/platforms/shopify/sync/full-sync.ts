import { createTemporaryFolder } from '../../../store/temporary-folder.ts';
import { linkShopifyShop } from '../store/shops.ts';
import { type ShopifySync, completeShopifySync } from '../store/syncs.ts';
import { fetchBulkResult } from '../bulk/bulk-result.ts';
import { CredentialsRefused, PlatformError } from '../../errors.ts';
import { countRefused, countWritten } from '../../intake.ts';
import { ensureSubscriptions } from '../webhooks/subscriptions.ts';
import type { SyncReport } from '../../platform.ts';
import { type SyncedShop, storeBulkResults } from './intake.ts';
import { reconcile } from './reconcile.ts';

/**
 * Fetches all contracts and selling plans, and deletes what Shopify no longer has. If it is
 * interrupted, the next run continues with the same bulk operations.
 * @throws PlatformError
 */
export async function syncFull(synced: SyncedShop, state: ShopifySync): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  const startedAt = state.operationsBegunAt ?? new Date(clock.now());
  await keepSubscribed(synced);
  const folder = createTemporaryFolder('sync');
  try {
    const plans = await fetchBulkResult(synced, 'plans', state, folder.path);
    const contracts = await fetchBulkResult(synced, 'contracts', state, folder.path);
    const sources = [plans, contracts].flatMap(({ source }) => source ?? []);
    const counts = await storeBulkResults(synced, sources);
    const deleted = await reconcile(synced, contracts, plans);
    const { domain } = synced.client;
    await sql.begin((tx) => linkShopifyShop(tx, { shopId: shop.id, domain }));
    await completeShopifySync(sql, shop.id, {
      watermark: new Date(contracts.startedAt),
      reconciledAt: startedAt,
    });
    return {
      kind: 'whole',
      read: { contracts: contracts.ids.count },
      written: countWritten(counts),
      refused: countRefused(counts),
      deleted,
    };
  } finally {
    folder.remove();
  }
}

/** Makes sure that Shopify reports changes. Without it they come with the next sync, so a failure only shows in the log. */
async function keepSubscribed({ client, shop, webhookAddress, log }: SyncedShop): Promise<void> {
  if (webhookAddress === undefined) return;
  try {
    const changes = await ensureSubscriptions(client, webhookAddress);
    if (Object.values(changes).some(({ length }) => length > 0)) {
      log.info({ shop: shop.id, domain: client.domain, ...changes }, 'subscribed to webhooks');
    }
  } catch (error) {
    if (!(error instanceof PlatformError) || error instanceof CredentialsRefused) throw error;
    const { message: reason } = error;
    log.warn({ shop: shop.id, domain: client.domain, reason }, 'not subscribed to webhooks');
  }
}
