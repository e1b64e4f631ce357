import { type Line, lineOf } from '../../../ingest/lines.ts';
import { firstOwnNumber } from '../../../own-number.ts';
import { type StoredPlan, listStoredPlans, listSubscriptionIds } from '../store/syncs.ts';
import type { BroughtResult } from '../bulk/bulk-result.ts';
import type { ShopifyClient } from '../api/client.ts';
import { formatGid } from '../api/gid.ts';
import { type SyncedShop, deletionOf, take } from './intake.ts';
import { nodesById } from '../api/queries.ts';
import type { SortedIds } from '../bulk/sorted-ids.ts';

/** What is younger than that when a bulk query begins may not be in its result. */
const youthMilliseconds = 5 * 60_000;
const idsAtATime = 5_000;
/** As many as Shopify takes in one query. */
const nodesAtATime = 250;

/**
 * Deletes what is stored and no more in Shopify: what a whole result lacks and Shopify, asked for it
 * by its id, does not have. A selling plan that is gone but that subscriptions are still on is kept,
 * and is active no more.
 * @returns how many records were deleted
 */
export async function reconcile(
  synced: SyncedShop,
  contracts: BroughtResult,
  plans: BroughtResult,
): Promise<number> {
  let deleted = 0;
  const takeAndCount = async (lines: AsyncIterable<readonly Line[]>) => {
    const counts = await take(synced, lines);
    deleted += counts['delete']?.deleted ?? 0;
  };
  if (contracts.tellsWhatIsGone) await takeAndCount(goneSubscriptions(synced, contracts));
  if (plans.tellsWhatIsGone) await takeAndCount(gonePlans(synced, plans.ids));
  return deleted;
}

async function* goneSubscriptions(
  { client, sql, shop }: SyncedShop,
  { ids, startedAt }: BroughtResult,
): AsyncGenerator<Line[]> {
  const createdBefore = new Date(startedAt - youthMilliseconds);
  for (let after = 0; ;) {
    const limit = idsAtATime;
    const stored = await listSubscriptionIds(sql, shop.id, { after, createdBefore, limit });
    const missing = stored.filter((id) => !ids.has(id));
    const gone = await findGone(client, 'SubscriptionContract', missing);
    yield missing.filter((id) => gone.has(id)).map((id) => deletionOf('subscription', id));
    const last = stored.at(-1);
    if (last === undefined || stored.length < limit) return;
    after = last;
  }
}

/** Deletions of plans that are stored, are not among `ids`, and are not in Shopify either. */
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
    return plan.active && !isOurs ? [inactive(plan)] : [];
  });
}

/** Those that Shopify does not have. */
async function findGone(
  client: ShopifyClient,
  type: string,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const gone = new Set<number>();
  for (let begin = 0; begin < ids.length; begin += nodesAtATime) {
    const some = ids.slice(begin, begin + nodesAtATime);
    const gids = some.map((id) => formatGid({ type, key: String(id) }));
    const { nodes } = await client.query<{ nodes: ({ readonly id: string } | null)[] }>(nodesById, {
      ids: gids,
    });
    const there = new Set(nodes.flatMap((node) => node?.id ?? []));
    for (const [index, id] of some.entries()) if (!there.has(gids[index] ?? '')) gone.add(id);
  }
  return gone;
}

function inactive(plan: StoredPlan): Line {
  const { isUsed: _, discountType, discountValue, summary, ...fields } = plan;
  const pricing = { discountType, discountValue, summary };
  const record = { type: 'plan', ...fields, pricing, active: false };
  return lineOf({ number: plan.id, value: record });
}
