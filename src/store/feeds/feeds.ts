import type { FeedName } from '../../vocabulary.ts';
import type { Sql, Transaction } from '../database.ts';

/** How fresh what a shop has from one feed is. */
export interface FeedStatus {
  readonly feed: FeedName;
  /** When records came last, whether or not they said anything new. */
  readonly arrivedAt: Date | null;
  /** The newest time that any of its records tells of itself. */
  readonly newestAt: Date | null;
  /** When the source was last read to its end. */
  readonly completedAt: Date | null;
}

type Progress = Partial<Omit<FeedStatus, 'feed'>>;

/** Moves a feed's times forward; what is left out stays. */
export async function noteFeed(
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

/** A shop's feeds, by name; those that never brought anything are not among them. */
export async function listFeeds(sql: Sql, shopId: number): Promise<FeedStatus[]> {
  return sql<FeedStatus[]>`
    select feed, arrived_at as "arrivedAt", newest_at as "newestAt",
      completed_at as "completedAt"
    from feeds where shop_id = ${shopId} order by feed`;
}

/** Of all shops that have a feed: how many there are, and when the one was complete that waits longest. */
export interface FeedLag {
  readonly feed: FeedName;
  readonly shops: number;
  readonly oldestCompletedAt: Date | null;
}

/** For those who run the service: it looks at every shop's feeds, and at nothing else of them. */
export async function listFeedLags(sql: Sql): Promise<FeedLag[]> {
  return sql<FeedLag[]>`
    select feed, count(*)::int as shops, min(completed_at) as "oldestCompletedAt"
    from feeds group by feed order by feed`;
}
