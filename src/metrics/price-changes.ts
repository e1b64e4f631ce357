import { isoTime } from '../iso-time.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { lookup } from '../store/lookup.ts';
import { type Position, type TimeOrder, keyset } from '../store/records/listing.ts';
import type { Window } from './churn.ts';
import type { Part } from './ledger.ts';
import type { OfSubscription } from './segments/subscriptions.ts';
import { minCases } from './significance.ts';

/** More groups are not read. */
export const maxPriceGroups = 10;

/** What some subscriptions that changed their price came to. Amounts are a month, as decimals. */
export interface PriceChangeSums {
  readonly count: number;
  readonly was: string;
  readonly became: string;
  /** How many have left in time, and are not back, and what they were worth until then. */
  readonly left: number;
  readonly lost: string;
}

/** The subscriptions of a plan that became worth more, or less, on a UTC day. */
export interface PriceChangeGroup extends PriceChangeSums {
  /** Its start, epoch milliseconds. */
  readonly day: number;
  readonly planId: number;
  readonly planName: string;
  readonly isRise: boolean;
}

export interface PriceChangeFilter {
  readonly planId?: number | undefined;
  readonly isRise?: boolean | undefined;
  /** Only those that have left so many days after the change. */
  readonly leftWithin?: number | undefined;
}

/** Whether a subscription has left in so many days after its price changed, as of now. */
const hasLeft = (sql: Sql | Transaction, { now }: Window, days: number) =>
  sql`left_at <= ${isoTime(now)} and left_at < at + make_interval(days => ${days})`;

const changesIn = (sql: Sql | Transaction, shopId: number, { from, until, now }: Window) => sql`
  select subscription_id, at, plan_id, was, became, left_at, lost from price_changes
  where shop_id = ${shopId} and at >= ${isoTime(from)} and at < ${isoTime(Math.min(until, now + 1))}`;

const sumsOf = (sql: Sql | Transaction, left: Part) => sql`
  count(*) as count, sum(was)::text as was, sum(became)::text as became,
  count(*) filter (where ${left}) as left, coalesce(sum(lost) filter (where ${left}), 0)::text as lost`;

/**
 * The days of a window on which at least 10 subscriptions of a plan became worth more, or less; those that changed the MRR
 * most come first. Reads the window's entries of one index.
 * @param leftWithin days after the change in which those who left count
 */
export function listPriceGroups(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  leftWithin: number,
): Promise<PriceChangeGroup[]> {
  return sql<PriceChangeGroup[]>`
    select (date_part('epoch', g.day) * 1000)::bigint as day, g.plan_id as "planId", p.name as "planName",
      g.is_rise as "isRise", g.count, g.was, g.became, g.left, g.lost
    from (
      select metric_day(at) as day, plan_id, became > was as is_rise, ${sumsOf(sql, hasLeft(sql, window, leftWithin))}
      from (${changesIn(sql, shopId, window)} order by at, subscription_id offset 0) c
      group by 1, 2, 3
      having count(*) >= ${minCases}
      order by abs(sum(became - was)) desc, 1, 2, 3
      limit ${maxPriceGroups}
    ) g
    cross join ${lookup(sql, shopId, 'plans', 'plan_id', 'g.plan_id')} p
    order by abs(g.became::numeric - g.was::numeric) desc, g.day, g.plan_id, g.is_rise`;
}

function matching(
  sql: Sql | Transaction,
  window: Window,
  { planId, isRise, leftWithin }: PriceChangeFilter,
) {
  return sql`
    ${planId === undefined ? sql`` : sql`and plan_id = ${planId}`}
    ${isRise === undefined ? sql`` : sql`and (became > was) = ${isRise}`}
    ${leftWithin === undefined ? sql`` : sql`and ${hasLeft(sql, window, leftWithin)}`}`;
}

/** What the changes of a window come to. */
export async function sumPriceChanges(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  filter: PriceChangeFilter,
): Promise<PriceChangeSums> {
  const [row] = await sql<[PriceChangeSums]>`
    select count, coalesce(was, '0') as was, coalesce(became, '0') as became, "left", lost
    from (
      select ${sumsOf(sql, sql`left_at <= ${isoTime(window.now)}`)}
      from (${changesIn(sql, shopId, window)} ${matching(sql, window, filter)} order by at, subscription_id offset 0) c
    ) sums`;
  return row;
}

/** A subscription that became worth more or less. Amounts are a month, as decimals; times epoch milliseconds. */
export interface PriceChangeRow extends OfSubscription {
  readonly at: number;
  readonly was: string;
  readonly became: string;
  /** If it has left and is not back. */
  readonly leftAt: number | null;
  readonly lost: string | null;
}

/** The changes of a window, by when they were. Reads the page's entries of one index, or the window's with a filter. */
export function listPriceChanges(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  {
    order,
    after,
    limit,
    ...filter
  }: PriceChangeFilter & {
    readonly order: TimeOrder;
    readonly after: Position | undefined;
    readonly limit: number;
  },
): Promise<PriceChangeRow[]> {
  const place = after && { at: isoTime(after.createdAt), subscription_id: after.id };
  const { beyond, by } = keyset(sql, order, ['at', 'subscription_id'], place);
  const has = sql`c.left_at <= ${isoTime(window.now)}`;
  return sql<PriceChangeRow[]>`
    select c.subscription_id as "subscriptionId", s.customer_id as "customerId", c.plan_id as "planId",
      p.name as "planName", (date_part('epoch', c.at) * 1000)::bigint as at, c.was::text as was,
      c.became::text as became, case when ${has} then (date_part('epoch', c.left_at) * 1000)::bigint end as "leftAt",
      case when ${has} then c.lost::text end as lost
    from (
      ${changesIn(sql, shopId, window)} ${matching(sql, window, filter)} and ${beyond}
      order by ${by()} limit ${limit}
    ) c
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s
    cross join ${lookup(sql, shopId, 'plans', 'plan_id', 'c.plan_id')} p
    order by ${by('c')}`;
}
