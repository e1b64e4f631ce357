import { type Line, lineOf } from '../../../ingest/lines.ts';
import { firstOwnNumber } from '../../../own-number.ts';
import { type StoredPlan, listStoredPlans, listSubscriptionIds } from '../store/syncs.ts';
import type { DownloadedResult } from '../bulk/bulk-query.ts';
import type { ShopifyClient } from '../api/client.ts';
import { formatGid } from '../api/ids.ts';
import { type SyncedShop, deletionOf, storeLines } from './intake.ts';
import { nodesById } from '../api/queries.ts';
import type { SortedIds } from '../../../ingest/snapshot.ts';

/** Records younger than this when a bulk query starts may be missing from its result. */
const gracePeriodMilliseconds = 5 * 60_000;
const idsPerBatch = 5_000;
/** Shopify's maximum per query. */
const nodesPerBatch = 250;

/**
 * Deletes stored records that are gone from Shopify: missing from a complete result, and not found
 * when queried by id. A selling plan that is gone but still has subscriptions is kept and becomes
 * inactive.
 * @param contracts undefined if only plans were read
 * @returns how many records were deleted
 */
export async function reconcile(
  synced: SyncedShop,
  contracts: DownloadedResult | undefined,
  plans: DownloadedResult,
): Promise<number> {
  let deleted = 0;
  const storeAndCountDeletions = async (lines: AsyncIterable<readonly Line[]>) => {
    const counts = await storeLines(synced, lines);
    deleted += counts['delete']?.deleted ?? 0;
  };
  if (contracts?.isComplete) await storeAndCountDeletions(goneSubscriptions(synced, contracts));
  if (plans.isComplete) await storeAndCountDeletions(gonePlans(synced, plans.ids));
  return deleted;
}

async function* goneSubscriptions(
  { client, sql, shop }: SyncedShop,
  { ids, startedAt }: DownloadedResult,
): AsyncGenerator<Line[]> {
  const createdBefore = new Date(startedAt - gracePeriodMilliseconds);
  for (let after = 0; ;) {
    const limit = idsPerBatch;
    const stored = await listSubscriptionIds(sql, shop.id, { after, createdBefore, limit });
    const missing = stored.filter((id) => !ids.has(id));
    const gone = await findGone(client, 'SubscriptionContract', missing);
    yield missing.filter((id) => gone.has(id)).map((id) => deletionOf('subscription', id));
    const last = stored.at(-1);
    if (last === undefined || stored.length < limit) return;
    after = last;
  }
}

/** Lines that delete or deactivate the stored plans that are neither in `ids` nor in Shopify. */
export async function* gonePlans(
  { client, sql, shop }: SyncedShop,
  ids: Pick<SortedIds, 'has'>,
): AsyncGenerator<Line[]> {
  const missing = (await listStoredPlans(sql, shop.id)).filter(({ id }) => !ids.has(id));
  const known = missing.map(({ id }) => id).filter((id) => id < firstOwnNumber);
  const gone = await findGone(client, 'SellingPlan', known);
  yield missing.flatMap((plan) => {
    const isOurs = plan.id >= firstOwnNumber;
    if (!isOurs && !gone.has(plan.id)) return [];
    if (!plan.isUsed) return [deletionOf('plan', plan.id)];
    return plan.active && !isOurs ? [deactivated(plan)] : [];
  });
}

/** The ids that Shopify does not have. */
async function findGone(
  client: ShopifyClient,
  type: string,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const gone = new Set<number>();
  for (let begin = 0; begin < ids.length; begin += nodesPerBatch) {
    const some = ids.slice(begin, begin + nodesPerBatch);
    const gids = some.map((id) => formatGid({ type, key: String(id) }));
    const { nodes } = await client.query<{ nodes: ({ readonly id: string } | null)[] }>(nodesById, {
      ids: gids,
    });
    const existing = new Set(nodes.flatMap((node) => node?.id ?? []));
    for (const [index, id] of some.entries()) if (!existing.has(gids[index] ?? '')) gone.add(id);
  }
  return gone;
}

function deactivated(plan: StoredPlan): Line {
  const { isUsed: _, discountType, discountValue, summary, ...fields } = plan;
  const pricing = { discountType, discountValue, summary };
  const record = { type: 'plan', ...fields, pricing, active: false };
  return lineOf(plan.id, record);
}
