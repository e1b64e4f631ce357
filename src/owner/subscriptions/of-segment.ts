import { ServiceError } from '../../errors.ts';
import { listSegmentSubscriptions } from '../../metrics/segments/list.ts';
import { type Segment, parseSegment, segmentQuery } from '../../metrics/segments/segment.ts';
import { decodeCursor, pageOf } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import type { SubscriptionsPage } from './list.ts';

interface ListPage {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly now: number;
}

/**
 * The segment that a list's address chooses; undefined if it chooses at most a status, by which the API lists, too.
 * @throws ServiceError invalid, for conditions that are none
 */
export function segmentOf(query: URLSearchParams): Segment | undefined {
  const others = new URLSearchParams(query);
  others.delete('status');
  const { segment, problem } = parseSegment(others);
  if (problem !== undefined) throw new ServiceError('invalid', problem);
  if (!segment) return undefined;
  const whole = parseSegment(query);
  if (whole.problem !== undefined) throw new ServiceError('invalid', whole.problem);
  return whole.segment;
}

/**
 * A page of a segment's subscriptions, in the format of the API's list.
 * @param now epoch milliseconds
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function segmentSubscriptions(
  store: Store,
  shopId: number,
  segment: Segment,
  { limit, cursor, now }: ListPage,
): Promise<SubscriptionsPage> {
  const listing = `${shopId} subscriptions of ${segmentQuery(segment)}`;
  const after = cursor === undefined ? undefined : decodeCursor(listing, cursor);
  const found = await store.readRecent(shopId, (from) =>
    listSegmentSubscriptions(from, shopId, { segment, now }, { after, limit: limit + 1 }),
  );
  return JSON.parse(pageOf('subscriptions', listing, found, limit, 'subscriptionId').text);
}
