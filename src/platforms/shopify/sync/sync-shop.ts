import { CommandError } from '../../../errors.ts';
import {
  type ShopifySync,
  beginShopifySync,
  findShopifySync,
  forgetOperations,
  hasForeignRecords,
} from '../store/syncs.ts';
import type { SyncedShop } from './intake.ts';
import { syncChanges } from './poll.ts';
import type { SyncOptions, SyncReport } from '../../platform.ts';
import { syncWhole } from './whole-sync.ts';

const dayMilliseconds = 24 * 3_600_000;

/**
 * Makes a shop as it is in Shopify: by what changed, or by all of it where that was never done or a
 * day has passed since.
 * @throws PlatformError
 * @throws CommandError where the shop has data from elsewhere
 */
export async function syncShop(
  synced: SyncedShop,
  { whole, takeOver }: SyncOptions,
): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  let state = await ownedState(synced, takeOver);
  const now = clock.now();
  const begunAt = state.operationsBegunAt?.getTime() ?? now;
  if (now - begunAt > dayMilliseconds) {
    await forgetOperations(sql, shop.id);
    state = { ...state, plansOperation: null, contractsOperation: null, operationsBegunAt: null };
  }
  const { watermark, reconciledAt } = state;
  const isDue = reconciledAt === null || now - reconciledAt.getTime() >= dayMilliseconds;
  if (watermark !== null && !whole) {
    // Also where all is due: should a bulk query fail, what changed is here all the same.
    const report = await syncChanges(synced, watermark);
    if (report && !isDue) return report;
  }
  return syncWhole(synced, state);
}

/**
 * How far the shop is, once it is certain that what is not in Shopify may go.
 * @throws CommandError where the shop has data from elsewhere
 */
export async function ownedState(
  { client, sql, shop, log }: SyncedShop,
  takeOver: boolean,
): Promise<ShopifySync> {
  const { domain } = client;
  const known = await findShopifySync(sql, shop.id);
  if (known?.domain === domain) return known;
  if (!takeOver && known) {
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
    'the shop belongs to Shopify from now on: plans and subscriptions that are not there are deleted',
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
