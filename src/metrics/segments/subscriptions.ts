import type { Part } from '../ledger.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import type { Interval } from '../bounds.ts';
import { type Segment, createdWithin } from './segment.ts';
import { withinTimeLimit } from './time-limit.ts';
import { each, lookup } from '../../store/lookup.ts';

/** The subscription of a row of a list, and its customer and plan. */
export interface OfSubscription {
  readonly subscriptionId: number;
  readonly customerId: number;
  readonly planId: number;
  readonly planName: string;
}

/** A segment at an instant, epoch milliseconds: the subscriptions that meet its conditions then. */
export interface SegmentAt {
  readonly segment: Segment;
  readonly now: number;
}

const everything: SegmentAt = { segment: {}, now: 0 };

/**
 * The subscriptions of a segment, or all of a shop's, each with its billing interval (`unit`, `count`) and its
 * plan's name. Reads no others than those of a product, plan, group, status or age, the first that is given.
 */
export function subscriptionsOf(
  sql: Sql | Transaction,
  shopId: number,
  segment: SegmentAt = everything,
): Part {
  const { plan, group, product, status, age } = segment.segment;
  const { after, until } = createdWithin(age, segment.now);
  const byProduct = (id: number) => sql`
    select s.* from (
      select distinct subscription_id from ${each(sql, shopId, 'subscription_lines', 'product_id', id)} lines
    ) l
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'l.subscription_id')} s`;
  const byPlan = (id: number) => sql`
    select * from ${each(sql, shopId, 'subscriptions', 'plan_id', id)} found`;
  const byGroup = (name: string) => sql`
    select s.* from plans p
    cross join ${each(sql, shopId, 'subscriptions', 'plan_id', 'p.plan_id')} s
    where p.shop_id = ${shopId} and p.group_name = ${name}`;
  const byStatus = (name: string) => sql`
    select * from subscriptions
    where shop_id = ${shopId} and (status, created_at) > (${name}, ${after})
      and (status, created_at) <= (${name}, ${until})
    order by status, created_at, subscription_id offset 0`;
  const byAge = () => sql`
    select * from subscriptions
    where shop_id = ${shopId} and created_at > ${after} and created_at <= ${until}
    order by created_at, subscription_id offset 0`;
  const all = () => sql`
    select * from subscriptions where shop_id = ${shopId} order by subscription_id offset 0`;
  const way = [
    product !== undefined && (() => byProduct(product)),
    plan !== undefined && (() => byPlan(plan)),
    group !== undefined && (() => byGroup(group)),
    status !== undefined && (() => byStatus(status)),
    age !== undefined && byAge,
  ].find((row) => row !== false);
  return inSegment(sql, shopId, (way ?? all)(), segment, { isOfProduct: product !== undefined });
}

/**
 * Those of some subscriptions that belong to a segment, in the same order.
 * @param isOfProduct whether all of them are known to have the segment's product
 */
export function inSegment(
  sql: Sql | Transaction,
  shopId: number,
  subscriptions: Part,
  { segment, now }: SegmentAt = everything,
  { isOfProduct = false } = {},
): Part {
  const { plan = null, group = null, interval = null, status = null, age, price } = segment;
  const { after, until } = createdWithin(age, now);
  const ofProduct =
    segment.product === undefined || isOfProduct
      ? sql``
      : sql`
        cross join lateral (
          select from (
            select * from subscription_lines
            where shop_id = ${shopId} and subscription_id = s.subscription_id
            order by line_id offset 0
          ) l
          where l.product_id = ${segment.product} limit 1
        ) l`;
  return sql`
    select s.*, p.name as plan_name, p.unit, p.count, p.billed_by_plan
    from (${subscriptions}) s
    cross join lateral (
      select name, group_name, coalesce(s.own_interval_unit, interval_unit) as unit,
        coalesce(s.own_interval_count, interval_count) as count,
        interval_unit || ' ' || interval_count as billed_by_plan
      from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p ${ofProduct}
    where (${plan}::bigint is null or s.plan_id = ${plan})
      and (${group}::text is null or p.group_name = ${group})
      and (${interval}::text is null or p.unit || ' ' || p.count = ${interval})
      and (${status}::text is null or s.status = ${status})
      and s.created_at > ${after} and s.created_at <= ${until}
      and s.current_price between ${price?.from ?? '0'} and ${price?.to ?? 'Infinity'}`;
}

/** Those of some rows whose subscription belongs to a segment, in the same order; without a segment all of them. */
export function rowsInSegment(
  sql: Sql | Transaction,
  shopId: number,
  rows: Part,
  segment: SegmentAt | undefined,
): Part {
  if (!segment) return rows;
  const itsSubscription = sql`
    select * from ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'r.subscription_id')} found`;
  return sql`
    select r.* from (${rows}) r
    cross join lateral (
      select from (${inSegment(sql, shopId, itsSubscription, segment)}) s limit 1
    ) in_segment`;
}

/** More are not counted. */
export const maxCounted = 10_000;

/**
 * How many subscriptions a segment has, at most one more than are counted.
 * @throws SegmentTooLarge if finding out takes longer than two seconds
 */
export function countSegment(sql: Sql, shopId: number, segment: SegmentAt): Promise<number> {
  return withinTimeLimit(sql, 2000, (tx, inTurn) =>
    inTurn(async () => {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::integer as count
        from (select from (${subscriptionsOf(tx, shopId, segment)}) s limit ${maxCounted + 1}) found`;
      return row?.count ?? 0;
    }),
  );
}

/** The tables whose rows count through their subscription: when each happened, and the order by subscription. */
const tables = {
  payments: { at: 'processed_at', order: 'subscription_id, processed_at' },
  cancellation_sessions: { at: 'created_at', order: 'subscription_id' },
  refunds: { at: 'refunded_at', order: 'refunded_at' },
} as const;
export type RecordTable = keyof typeof tables;

/**
 * The rows of a table in an interval of time: those of a segment, or all of a shop's. A part of a statement in which
 * the segment's subscriptions are called `in_segment`.
 */
export function recordsOf(
  sql: Sql | Transaction,
  shopId: number,
  table: RecordTable,
  [from, until]: Interval,
  segment: SegmentAt | undefined,
): Part {
  const [name, at, order] = [table, tables[table].at, tables[table].order].map((text) =>
    sql.unsafe(text),
  ) as [Part, Part, Part];
  const within = sql`shop_id = ${shopId} and ${at} >= ${from} and ${at} < ${until}`;
  if (!segment) return sql`select * from ${name} where ${within}`;
  if (table !== 'refunds') {
    return sql`
      select r.* from in_segment c
      cross join lateral (
        select * from ${name}
        where ${within} and subscription_id between c.subscription_id and c.subscription_id
        order by ${order} offset 0
      ) r`;
  }
  // A refund names only a payment. As a value, not as a condition, `in` finds the subscription by a hash.
  return sql`
    select * from (
      select r.*, p.subscription_id in (select subscription_id from in_segment) as is_in_segment
      from (select * from ${name} where ${within} order by ${order} offset 0) r
      cross join ${lookup(sql, shopId, 'payments', 'payment_id', 'r.payment_id')} p
      offset 0
    ) r
    where is_in_segment`;
}
