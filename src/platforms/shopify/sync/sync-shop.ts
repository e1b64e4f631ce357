import { CommandError } from '../../../errors.ts';
import {
  type ShopifySync,
  beginShopifySync,
  findShopifySync,
  forgetOperations,
  hasForeignRecords,
  hasRecords,
  advanceWatermark,
  completePayments,
  completeShopifySync,
  listOutdatedContracts,
} from '../store/syncs.ts';
import { type SyncedShop, fetchAndStore, storeBulkResults } from './intake.ts';
import type { SyncOptions, SyncReport } from '../../platform.ts';
import { warnOfSupport } from '../api/version.ts';
import { totalsOf } from '../../intake.ts';
import { changedContracts } from '../api/queries.ts';
import { createTemporaryFolder } from '../../../store/temporary-folder.ts';
import { linkShopifyShop } from '../store/shops.ts';
import { fetchBulkResult } from '../bulk/bulk-query.ts';
import { readPayments } from '../bulk/payments.ts';
import { formatGid } from '../api/ids.ts';
import { CredentialsRefused, PlatformError } from '../../errors.ts';
import { ensureSubscriptions } from '../webhooks/subscriptions.ts';
import { reconcile } from './reconcile.ts';

const dayMilliseconds = 24 * 3_600_000;
const weekMilliseconds = 7 * dayMilliseconds;

/**
 * Syncs a shop with Shopify: fetches the changes, once a day new payments, and everything if the last full sync is
 * missing or a week old (docs/decisions/0012-shopify.md).
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
  const { watermark, paymentsWatermark, reconciledAt } = state;
  const isOlder = (at: Date | null, than: number) => at === null || now - at.getTime() >= than;
  // Even if more is due: should its bulk queries fail, at least the changes are stored.
  const changes = watermark && !full ? await syncChanges(synced, watermark) : undefined;
  const isPartial = changes && !isOlder(reconciledAt, weekMilliseconds);
  if (isPartial && !isOlder(paymentsWatermark, dayMilliseconds)) return changes;
  await keepSubscribed(synced);
  const payments =
    isPartial && paymentsWatermark
      ? await syncPayments(synced, state, paymentsWatermark.getTime())
      : undefined;
  return payments ?? syncFull(synced, state);
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
    paymentsWatermark: null,
    plansOperation: null,
    contractsOperation: null,
    operationsBegunAt: null,
  };
}

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
async function syncChanges(synced: SyncedShop, watermark: Date): Promise<SyncReport | undefined> {
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

    const stored = await fetchAndStore(
      synced,
      nodes.map(({ id }) => id),
    );
    written += stored.written;
    refused += stored.refused;
    const last = Date.parse(nodes.at(-1)?.updatedAt ?? '');
    const to = pageInfo.hasNextPage ? Math.min(last, startedAt) : startedAt;
    if (!Number.isNaN(to)) await advanceWatermark(sql, shop.id, new Date(to));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return { kind: 'changes', read: { contracts }, written, refused, deleted: 0 };
}

/**
 * Reads selling plans, new billing attempts and refunded orders, and fetches the contracts of which something is not
 * stored.
 * @returns undefined if everything has to be read instead: too much is missing, or Shopify does not answer the queries
 * @throws CredentialsRefused
 */
async function syncPayments(
  synced: SyncedShop,
  state: ShopifySync,
  since: number,
): Promise<SyncReport | undefined> {
  const { client, sql, shop, clock, log } = synced;
  const { path, remove } = createTemporaryFolder('sync');
  try {
    const plans = await fetchBulkResult(synced, 'plans', state, path);
    // An attempt may be decided days after its creation, by which alone it can be found.
    const attempts = await fetchBulkResult(
      synced,
      'attempts',
      state,
      path,
      since - weekMilliseconds,
    );
    const orders = await fetchBulkResult(
      synced,
      'orders',
      state,
      path,
      since - overlapMilliseconds,
    );
    const payments = [
      ...(await readPayments(attempts, shop)),
      ...(await readPayments(orders, shop)),
    ];
    const outdated = await listOutdatedContracts(sql, shop.id, payments);
    if (!attempts.isComplete || !orders.isComplete || outdated.length > maxContracts) {
      return undefined;
    }
    const counts = await storeBulkResults(synced, plans.source ? [plans.source] : []);
    const deleted = await reconcile(synced, undefined, plans);
    const stored = await fetchAndStore(
      synced,
      outdated.map((id) => formatGid({ type: 'SubscriptionContract', key: `${id}` })),
    );
    await completePayments(sql, shop.id, new Date(Math.min(attempts.startedAt, clock.now())));
    const totals = totalsOf(counts);
    return {
      kind: 'payments',
      read: { contracts: outdated.length },
      written: totals.written + stored.written,
      refused: totals.refused + stored.refused,
      deleted,
    };
  } catch (error) {
    if (!(error instanceof PlatformError) || error instanceof CredentialsRefused) throw error;
    const { message: reason } = error;
    log.warn({ shop: shop.id, domain: client.domain, reason }, 'reading everything instead');
    return undefined;
  } finally {
    remove();
  }
}

/**
 * Fetches all contracts and selling plans, and deletes what Shopify no longer has. If it is
 * interrupted, the next run continues with the same bulk operations.
 * @throws PlatformError
 */
async function syncFull(synced: SyncedShop, state: ShopifySync): Promise<SyncReport> {
  const { sql, shop, clock } = synced;
  const startedAt = state.operationsBegunAt ?? new Date(clock.now());
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
      ...totalsOf(counts),
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
