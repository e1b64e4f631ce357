import { isoTime } from '../../iso-time.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { orderOf, startOf, byCreation } from '../../store/records/listing.ts';
import {
  type ShopOfPrices,
  type SubscriptionPaging,
  type SubscriptionText,
  directionOf,
  isByValue,
  subscriptionTexts,
  subscriptionsAsJson,
  walkByValue,
} from '../../store/records/subscriptions.ts';
import type { Part } from '../ledger.ts';
import { type SegmentAt, inSegment } from './subscriptions.ts';
import { segmentMilliseconds, withinTimeLimit } from './time-limit.ts';
import type { JsonRows } from '../../store/records/listing.ts';
import { each, lookup } from '../../store/lookup.ts';

/**
 * The figures whose subscriptions can be listed: of new, active and paused subscribers, of MRR, of cancellations, and of
 * what the cancel flow kept.
 */
export const countedFigures = ['new', 'active', 'mrr', 'paused', 'cancelled', 'kept'] as const;
export type CountedFigure = (typeof countedFigures)[number];

/** What a list of subscriptions is of. Epoch milliseconds. */
export interface Counted {
  readonly figure: CountedFigure;
  /** Of what happened: includes `from`, excludes `until`. */
  readonly from: number;
  readonly until: number;
  /** The instant of which the statuses are; anything dated later is ignored. */
  readonly at: number;
  /** Whether it is in the past, of which some statuses are not known. */
  readonly isPast?: boolean;
}

/**
 * The subscriptions that a figure counts, or whose customers it counts, with their status at an instant: by when they
 * began, were cancelled or last saved; those that are active or paused also by value. Reads subscriptions, changes of
 * status or sessions until a page is full.
 * @throws SegmentTooLarge if that takes too long
 */
export function listCounted(
  { segments }: Pick<ReadConnections, 'segments'>,
  shop: ShopOfPrices,
  counted: Counted,
  page: SubscriptionPaging,
  segment: SegmentAt | undefined,
  { milliseconds = segmentMilliseconds } = {},
): Promise<SubscriptionText[]> {
  return withinTimeLimit(segments, milliseconds, (tx, inTurn) =>
    inTurn(() => readCounted(tx, shop, counted, page, segment)),
  );
}

function readCounted(
  sql: Sql | Transaction,
  shop: ShopOfPrices,
  { figure, from, until, at, isPast = false }: Counted,
  { order, after, limit }: SubscriptionPaging,
  segment: SegmentAt | undefined,
): Promise<SubscriptionText[]> {
  const { id: shopId } = shop;
  const place = startOf(after, directionOf(order));
  const { than, thanOrAt, by: direction } = orderOf(sql, directionOf(order));
  /** The last change of a subscription's status by then. */
  const last = (alias: string) => sql`
    left join lateral (
      select to_status, position from (
        select * from status_events
        where shop_id = ${shopId} and subscription_id = ${sql.unsafe(alias)}.subscription_id
        order by position desc offset 0
      ) event
      where at <= ${isoTime(at)} limit 1
    ) last on true`;
  /** Its status then; if that has no date, its present one. */
  const statusOf = (alias: string) => {
    const [status, since] = [sql.id(`${alias}.status`), sql.id(`${alias}.status_since`)];
    return sql`case when ${since} is null then ${status} else coalesce(last.to_status, 'active') end`;
  };
  const begun = (since: string, end: string) => sql`
    select * from subscriptions
    where shop_id = ${shopId} and created_at >= ${since} and created_at <= ${end}
      and (created_at, subscription_id) ${than} (${place.at}, ${place.id})
    order by created_at ${direction}, subscription_id ${direction} offset 0`;
  const begunUntilThen = () => {
    if (!isByValue(order)) return begun('-infinity', isoTime(at));
    const valued = walkByValue(sql, shopId, { order, after, limit: Number.MAX_SAFE_INTEGER });
    return sql`select * from (${valued}) valued where created_at <= ${isoTime(at)}`;
  };
  const cancelled = sql`
    select e.subscription_id, e.at as cancelled_at, s.customer_id, s.plan_id, s.status, s.status_since, s.current_price,
      s.own_interval_unit, s.own_interval_count, s.other_intervals, s.past_values, s.trial_ends_at,
      s.next_billing_at, s.created_at
    from (
      select * from status_events
      where shop_id = ${shopId} and at >= ${isoTime(from)} and at < ${isoTime(until)} and at <= ${isoTime(at)}
        and (at, subscription_id) ${than} (${place.at}, ${place.id})
      order by at ${direction}, subscription_id ${direction} offset 0
    ) e
    ${last('e')}
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'e.subscription_id')} s
    where e.to_status = 'cancelled' and last.position = e.position and s.status_since is not null`;
  const saved = sql`
    select c.created_at as saved_at, s.subscription_id, s.customer_id, s.plan_id, s.status, s.status_since, s.current_price,
      s.own_interval_unit, s.own_interval_count, s.other_intervals, s.past_values, s.trial_ends_at,
      s.next_billing_at, s.created_at
    from (
      select * from (
        select * from cancellation_sessions
        where shop_id = ${shopId} and created_at >= ${isoTime(from)} and created_at < ${isoTime(until)}
          and created_at <= ${isoTime(at)} and created_at ${thanOrAt} ${place.at}
        order by created_at ${direction} offset 0
      ) begun
      where outcome = 'saved' and (created_at, subscription_id) ${than} (${place.at}, ${place.id})
      order by created_at ${direction}, subscription_id ${direction} offset 0
    ) c
    left join lateral (
      select true as is_there from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 'c.subscription_id')} own
      where outcome = 'saved' and created_at <= ${isoTime(at)}
        and (created_at, session_id) > (c.created_at, c.session_id)
      limit 1
    ) later on true
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s
    where later.is_there is null and s.created_at <= ${isoTime(at)}`;
  /** The segment's subscriptions of the customer of \`c\`. */
  const others = () =>
    inSegment(
      sql,
      shopId,
      sql`
        select * from ${each(sql, shopId, 'subscriptions', 'customer_id', 'c.customer_id')} found`,
      segment,
    );
  const earlier = sql`
    select true as is_there from (${others()}) o
    where (o.created_at, o.subscription_id) < (c.created_at, c.subscription_id) limit 1`;
  const active = sql`
    select true as is_there from (${others()}) o ${last('o')}
    where o.created_at <= ${isoTime(at)} and ${statusOf('o')} = 'active' limit 1`;
  const [walk, moment, status, unless] = {
    new: () => [begun(isoTime(from), isoTime(until - 1)), 'created_at', null, earlier] as const,
    active: () => [begunUntilThen(), 'created_at', 'active', undefined] as const,
    mrr: () => [begunUntilThen(), 'created_at', 'active', undefined] as const,
    paused: () => [begunUntilThen(), 'created_at', 'paused', active] as const,
    cancelled: () => [cancelled, 'cancelled_at', 'cancelled', undefined] as const,
    kept: () => [saved, 'saved_at', 'active', undefined] as const,
  }[figure]();
  // MRR counts what held then, of those whose trial was over. That of now is in the lines.
  const isMrr = figure === 'mrr';
  const worthUntil = isMrr && isPast ? isoTime(at + 1) : null;
  const afterTrial = isMrr ? sql`and (m.trial_ends_at > ${isoTime(at)}) is not true` : sql``;
  const sortedBy = sql.unsafe(isByValue(order) ? 'value' : moment) as Part;
  const exceptFor = unless
    ? sql`left join lateral (${unless}) other on true where other.is_there is null`
    : sql``;
  const rows = sql`
    select c.* from (
      -- Without this order, PostgreSQL forgets that of the walk, reads all of it and sorts.
      select m.*, ${statusOf('m')} as status_then, ${worthUntil}::timestamptz as worth_until
      from (${inSegment(sql, shopId, walk, segment)}) m ${last('m')}
      where ${statusOf('m')} = coalesce(${status}, ${statusOf('m')})
        and (${figure !== 'paused' || !isPast} or m.status_since is not null) ${afterTrial}
      order by m.${sortedBy} ${direction}, m.subscription_id ${direction} offset 0
    ) c
    ${exceptFor}`;
  return subscriptionTexts(sql, shop, { rows, moment, order, limit });
}

/**
 * The subscriptions of a segment, as listSubscriptions has them. Reads the shop's, or those of the status, until a
 * page is full.
 * @throws SegmentTooLarge if that takes too long
 */
export function listSegmentSubscriptions(
  { segments }: Pick<ReadConnections, 'segments'>,
  shop: ShopOfPrices,
  segment: SegmentAt,
  { order, after, limit }: SubscriptionPaging,
  { milliseconds = segmentMilliseconds } = {},
): Promise<JsonRows> {
  const { status } = segment.segment;
  return withinTimeLimit(segments, milliseconds, (tx, inTurn) =>
    inTurn(() => {
      const toTheEnd = { after, limit: Number.MAX_SAFE_INTEGER };
      const walk = isByValue(order)
        ? walkByValue(tx, shop.id, { order, ...toTheEnd }, status && [status])
        : byCreation(tx, 'subscription_id', ['status', status], { order, ...toTheEnd });
      const all = isByValue(order)
        ? walk
        : tx`select * from subscriptions where shop_id = ${shop.id} ${walk}`;
      return subscriptionsAsJson(
        tx,
        shop,
        tx`select * from (${inSegment(tx, shop.id, all, segment)}) s limit ${limit}`,
      );
    }),
  );
}
