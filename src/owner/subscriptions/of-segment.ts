import { ServiceError } from '../../errors.ts';
import type { Period } from '../../metrics/bounds.ts';
import { listSegmentSubscriptions } from '../../metrics/segments/list.ts';
import { type Segment, parseSegment, segmentQuery } from '../../metrics/segments/segment.ts';
import { decodeCursor, pageOf } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import { viewOf, viewQuery } from '../view/view.ts';
import type { SubscriptionsPage } from './list-page.ts';

interface ListPage {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly now: number;
  readonly created: ReturnType<typeof createdIn>;
}

const iso = (at: number) => new Date(at).toISOString();

/**
 * The segment that a list's address chooses; undefined if it chooses at most a status, by which the API lists, too.
 * @param isNeeded whether to give the segment of a status, or of all, as well
 * @throws ServiceError invalid, for conditions that are none
 */
export function segmentOf(query: URLSearchParams, isNeeded: boolean): Segment | undefined {
  const others = new URLSearchParams(query);
  others.delete('status');
  const { segment, problem } = parseSegment(others);
  if (problem !== undefined) throw new ServiceError('invalid', problem);
  if (!segment && !isNeeded) return undefined;
  const whole = parseSegment(query);
  if (whole.problem !== undefined) throw new ServiceError('invalid', whole.problem);
  return whole.segment ?? {};
}

/**
 * The period in which the listed subscriptions began, if the address names one; `name` tells it from others.
 * @throws ServiceError invalid
 */
export function createdIn(
  query: URLSearchParams,
  now: number,
): { readonly period: Period; readonly name: string } | undefined {
  if (query.get('created') !== 'period') return undefined;
  const view = viewOf(query, now);
  if (view.problem !== undefined) throw new ServiceError('invalid', view.problem);
  // One that ends now has other ends on each page.
  return {
    period: view.period,
    name: String(viewQuery({ range: view.range, comparison: 'before' })),
  };
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
  { limit, cursor, now, created }: ListPage,
): Promise<SubscriptionsPage> {
  const listing = `${shopId} subscriptions of ${segmentQuery(segment)}${created ? ` ${created.name}` : ''}`;
  const after = cursor === undefined ? undefined : decodeCursor(listing, cursor);
  const found = await store.readRecent(shopId, (from) =>
    listSegmentSubscriptions(
      from,
      shopId,
      { segment, now },
      { after, limit: limit + 1 },
      created && { created: [iso(created.period.from), iso(created.period.until)] },
    ),
  );
  return JSON.parse(pageOf('subscriptions', listing, found, limit, 'subscriptionId').text);
}
