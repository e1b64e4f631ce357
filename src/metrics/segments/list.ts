import type { ReadConnections } from '../../store/connections/read-connections.ts';
import { type JsonRows, type Paging, byCreation } from '../../store/records/listing.ts';
import { subscriptionsAsJson } from '../../store/records/subscriptions.ts';
import { type Selection, matching } from './chosen.ts';
import { segmentMilliseconds, withinTimeLimit } from './time-limit.ts';

/**
 * The subscriptions of a selection, as listSubscriptions has them. Reads the shop's, or those of the status, until a
 * page is full.
 * @throws SegmentTooLarge if that takes too long
 */
export function listSegmentSubscriptions(
  { segments }: Pick<ReadConnections, 'segments'>,
  shopId: number,
  selection: Selection,
  { order, after, limit }: Paging,
  { milliseconds = segmentMilliseconds } = {},
): Promise<JsonRows> {
  const { status } = selection.segment;
  return withinTimeLimit(segments, milliseconds, (inTurn) =>
    inTurn((tx) => {
      const toTheEnd = { order, after, limit: Number.MAX_SAFE_INTEGER };
      const walk = byCreation(tx, 'subscription_id', ['status', status], toTheEnd);
      const all = tx`select * from subscriptions where shop_id = ${shopId} ${walk}`;
      return subscriptionsAsJson(
        tx,
        shopId,
        tx`select * from (${matching(tx, shopId, all, selection)}) s limit ${limit}`,
      );
    }),
  );
}
