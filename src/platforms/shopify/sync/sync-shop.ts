import { CommandError } from '../../../errors.ts';
import {
  type ShopifySync,
  beginShopifySync,
  findShopifySync,
  forgetOperations,
  hasForeignRecords,
  hasRecords,
} from '../store/syncs.ts';
import type { SyncedShop } from './intake.ts';
import { syncChanges } from './poll.ts';
import type { SyncOptions, SyncReport } from '../../platform.ts';
import { syncFull } from './full-sync.ts';
import { warnOfSupport } from '../api/version.ts';

const dayMilliseconds = 24 * 3_600_000;

/**
 * Syncs a shop with Shopify: fetches the changes, or everything if the last full sync is missing or
 * a day old.
 * @throws PlatformError
 * @throws CommandError if the shop has data from another source
 */
export async function syncShop(
  synced: SyncedShop,
  { full, takeOver }: SyncOptions,
): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  warnOfSupport(synced);
  let state = await claimShop(synced, takeOver);
  const now = clock.now();
  const operationsBegunAt = state.operationsBegunAt?.getTime() ?? now;
  if (now - operationsBegunAt > dayMilliseconds) {
    await forgetOperations(sql, shop.id);
    state = { ...state, plansOperation: null, contractsOperation: null, operationsBegunAt: null };
  }
  const { watermark, reconciledAt } = state;
  const isDue = reconciledAt === null || now - reconciledAt.getTime() >= dayMilliseconds;
  if (watermark !== null && !full) {
    // Even if a full sync is due: should its bulk query fail, at least the changes are stored.
    const report = await syncChanges(synced, watermark);
    if (report && !isDue) return report;
  }
  return syncFull(synced, state);
}

/**
 * Makes sure that the shop belongs to this Shopify shop, so that records missing there may be
 * deleted. Until the first records are stored it belongs to none, so that a mistyped domain can be corrected.
 * @returns its sync state
 * @throws CommandError if the shop has data from another source
 */
export async function claimShop(
  { client, sql, shop, log }: SyncedShop,
  takeOver: boolean,
): Promise<ShopifySync> {
  const { domain } = client;
  const known = await findShopifySync(sql, shop.id);
  if (known?.domain === domain) return known;
  if (!takeOver && known && (known.reconciledAt !== null || (await hasRecords(sql, shop.id)))) {
    throw new CommandError(
      `Shop ${shop.id} belongs to ${known.domain}, not to ${domain}; --take-over gives it to ${domain} and deletes what is not there.`,
    );
  }
  if (!takeOver && (await hasForeignRecords(sql, shop.id))) {
    throw new CommandError(
      `Shop ${shop.id} has data that did not come from Shopify; --take-over deletes what ${domain} does not have.`,
    );
  }
  await beginShopifySync(sql, shop.id, domain);
  log.info(
    { shop: shop.id, domain },
    'shop now synced with Shopify: plans and subscriptions missing there will be deleted',
  );
  return {
    domain,
    watermark: null,
    reconciledAt: null,
    plansOperation: null,
    contractsOperation: null,
    operationsBegunAt: null,
  };
}
