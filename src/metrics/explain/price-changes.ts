import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { lookup } from '../../store/lookup.ts';
import { type Position, type TimeOrder, keyset } from '../../store/records/listing.ts';
import { type Period, day } from '../bounds.ts';
import type { OfSubscription } from '../segments/subscriptions.ts';
import { minCases } from '../significance.ts';

/** More groups are not read. */
export const maxPriceGroups = 6;
/** More changes are not summed. */
export const maxSummedPrices = 10_000;

/** Who left so many days after a change is counted. */
export const daysAfter = ['30', '60', '90'] as const;
export type DaysAfter = (typeof daysAfter)[number];

/** What some subscriptions that changed their price came to. Amounts are a month, as decimals. */
interface PriceChangeSums {
  readonly count: number;
  readonly was: string;
  /** Below 0 if prices fell. */
  readonly added: string;
  /** How many have left and are not back, and what they were worth until then. */
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

/**
 * The UTC days of a period on which at least 10 subscriptions of a plan became worth more, or less; those that changed the
 * MRR most come first. The cost grows with the number of days and plans.
 * @param within days after the change in which those who left count
 */
export function listPriceGroups(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  within: DaysAfter,
): Promise<PriceChangeGroup[]> {
  const part = (name: string) => sql`
    left join lateral (
      select count, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'price' and bucket = g.bucket and fact = g.fact || ' ' || ${name}::text
      limit 1
    )`;
  return sql<PriceChangeGroup[]>`
    select (date_part('epoch', g.bucket) * 1000)::bigint as day, g.plan_id as "planId", p.name as "planName",
      split_part(g.fact, ' ', 2) = 'rose' as "isRise", g.count, coalesce(was.amount, 0)::text as was,
      g.amount::text as added, coalesce(gone.count, 0) as "left", coalesce(gone.amount, 0)::text as lost
    from (
      select bucket, fact, split_part(fact, ' ', 3)::bigint as plan_id, count, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'price' and bucket >= ${isoTime(floorToDay(from))} and bucket < ${isoTime(until)}
        and count >= ${minCases} and split_part(fact, ' ', 4) = ''
      order by abs(amount) desc, bucket, fact limit ${maxPriceGroups}
    ) g
    ${part('was')} was on true
    ${part(within)} gone on true
    cross join ${lookup(sql, shopId, 'plans', 'plan_id', 'g.plan_id')} p
    order by abs(g.amount) desc, g.bucket, g.fact`;
}

const floorToDay = (at: number) => Math.floor(at / day) * day;

export interface PriceChangeFilter {
  readonly planId?: number | undefined;
  readonly isRise?: boolean | undefined;
  /** Only those that have left so many days after the change. */
  readonly within?: DaysAfter | undefined;
}

/** The changes of a period that match a filter, from the index alone. */
const changesIn = (
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  { planId, isRise, within }: PriceChangeFilter,
) => {
  const ofPlan = planId === undefined ? sql`` : sql`and plan_id = ${planId}`;
  const ofRises = isRise === undefined ? sql`` : sql`and (became > was) = ${isRise}`;
  const ofLeavers =
    within === undefined ? sql`` : sql`and left_at - at < ${Number(within)} * interval '1 day'`;
  return sql`
    select subscription_id, at, plan_id, was, became, left_at, lost from price_changes
    where shop_id = ${shopId} and at >= ${isoTime(from)} and at < ${isoTime(until)} ${ofPlan} ${ofRises} ${ofLeavers}`;
};

/** A subscription may change several times, and leaves once. */
export interface PriceSums extends PriceChangeSums {
  readonly subscriptions: number;
}

/** What the changes of a period come to; undefined if they are more than are summed. */
export async function sumPriceChanges(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  filter: PriceChangeFilter,
): Promise<PriceSums | undefined> {
  const [row] = await sql<[PriceSums]>`
    select coalesce(sum(count), 0)::bigint as count, count(*) as subscriptions, coalesce(sum(was), 0)::text as was,
      coalesce(sum(added), 0)::text as added, count(left_at) as "left", coalesce(sum(lost), 0)::text as lost
    from (
      select count(*) as count, sum(was) as was, sum(became - was) as added, max(left_at) as left_at, max(lost) as lost
      from (
        ${changesIn(sql, shopId, period, filter)}
        order by at, subscription_id limit ${maxSummedPrices + 1}
      ) c
      group by subscription_id
    ) s`;
  return row.count > maxSummedPrices ? undefined : row;
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

/** The changes of a period, by when they were. Reads the page's entries of one index, or the period's with a filter. */
export function listPriceChanges(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
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
  return sql<PriceChangeRow[]>`
    select c.subscription_id as "subscriptionId", s.customer_id as "customerId", c.plan_id as "planId",
      p.name as "planName", (date_part('epoch', c.at) * 1000)::bigint as at, c.was::text as was,
      c.became::text as became, (date_part('epoch', c.left_at) * 1000)::bigint as "leftAt", c.lost::text as lost
    from (
      ${changesIn(sql, shopId, period, filter)} and ${beyond}
      order by ${by()} limit ${limit}
    ) c
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s
    cross join ${lookup(sql, shopId, 'plans', 'plan_id', 'c.plan_id')} p
    order by ${by('c')}`;
}
