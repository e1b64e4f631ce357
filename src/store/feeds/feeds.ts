import type { FeedName } from '../../vocabulary.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';

/** The freshness of a shop's data from one feed. */
export interface FeedStatus {
  readonly feed: FeedName;
  /** When records last arrived, changed or not. */
  readonly arrivedAt: Date | null;
  /** The newest timestamp in any of its records. */
  readonly newestAt: Date | null;
  /** When the source was last read completely. */
  readonly completedAt: Date | null;
}

type Progress = Partial<Omit<FeedStatus, 'feed'>>;

/** Moves a feed's times forward; omitted ones stay. */
export async function upsertFeed(
  sql: Sql | Transaction,
  shopId: number,
  feed: FeedName,
  { arrivedAt = null, newestAt = null, completedAt = null }: Progress,
): Promise<void> {
  await sql`
    insert into feeds (shop_id, feed, arrived_at, newest_at, completed_at)
    values (${shopId}, ${feed}, ${arrivedAt}, ${newestAt}, ${completedAt})
    on conflict (shop_id, feed) do update set
      arrived_at = greatest(feeds.arrived_at, excluded.arrived_at),
      newest_at = greatest(feeds.newest_at, excluded.newest_at),
      completed_at = greatest(feeds.completed_at, excluded.completed_at)`;
}

/** A shop's feeds by name; omits those that never delivered anything. */
export async function listFeeds(sql: Sql, shopId: number): Promise<FeedStatus[]> {
  return sql<FeedStatus[]>`
    select feed, arrived_at as "arrivedAt", newest_at as "newestAt",
      completed_at as "completedAt"
    from feeds where shop_id = ${shopId} order by feed`;
}

/** The same of several shops. */
export async function listFeedsOf(
  sql: Sql,
  shopIds: readonly number[],
): Promise<(FeedStatus & { readonly shopId: number })[]> {
  return sql<(FeedStatus & { readonly shopId: number })[]>`
    select shop_id as "shopId", feed, arrived_at as "arrivedAt", newest_at as "newestAt",
      completed_at as "completedAt"
    from feeds where shop_id = any (${arrayText(shopIds)}::bigint[]) order by shop_id, feed`;
}

/** For one feed: the number of shops that use it, and the oldest completion among them. */
export interface FeedLag {
  readonly feed: FeedName;
  readonly shops: number;
  readonly oldestCompletedAt: Date | null;
}

/** For operators. Reads only the feeds of all shops, no other data. */
export async function listFeedLags(sql: Sql): Promise<FeedLag[]> {
  return sql<FeedLag[]>`
    select feed, count(*)::int as shops, min(completed_at) as "oldestCompletedAt"
    from feeds group by feed order by feed`;
}
