import type { IntervalUnit, SubscriptionStatus } from '../../vocabulary.ts';
import type { Query } from '../connections/query.ts';
import { withTimeout, arrayText, type Sql, type Transaction } from '../database.ts';
import { lookup } from '../lookup.ts';
import {
  type JsonRows,
  type Paging,
  type TimeOrder,
  array,
  decimal,
  instant,
  integer,
  nullable,
  object,
  jsonRowsOf,
  text,
  enumValue,
  byCreation,
  orderOf,
  startOf,
} from './listing.ts';

const fields = {
  subscriptionId: integer('s.subscription_id'),
  customerId: integer('s.customer_id'),
  status: enumValue('s.status'),
  planId: integer('s.plan_id'),
  planName: text('p.name'),
  planType: enumValue('p.plan_type'),
  currentPrice: decimal('s.current_price'),
  nextBillingDate: nullable(instant('s.next_billing_at')),
  createdAt: instant('s.created_at'),
};

const lineItem = object({
  lineId: integer('line_id'),
  productId: integer('product_id'),
  productTitle: text('product_title'),
  variantId: integer('variant_id'),
  variantTitle: text('variant_title'),
  quantity: integer('quantity'),
  currentPrice: decimal('current_price'),
});

const subscription = object(fields);
const subscriptionThen = object({ ...fields, status: enumValue('s.status_then') });
const subscriptionDetail = object({ ...fields, lineItems: array('l.items') });

/** The plan of the subscription `s`, as `p`. */
const itsPlan = (sql: Sql | Transaction, shopId: number) => sql`
  cross join lateral (
    select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
  ) p`;

interface Page extends Paging {
  readonly status: SubscriptionStatus | undefined;
}

/** By when they began. Costs the same on every page. */
export function listSubscriptions(
  sql: Sql,
  shopId: number,
  { status, ...page }: Page,
): Promise<JsonRows> {
  return jsonRowsOf(
    sql,
    sql`
    select ${sql.unsafe(subscription)} as json
    from subscriptions s ${itsPlan(sql, shopId)}
    where s.shop_id = ${shopId} ${byCreation(sql, 'subscription_id', ['status', status], page)}`,
  );
}

/** Some subscriptions, each with its plan. @param subscriptions a part of a statement, in their order */
export function subscriptionsAsJson(
  sql: Sql | Transaction,
  shopId: number,
  subscriptions: Query<Record<string, unknown>[]>,
): Promise<JsonRows> {
  return jsonRowsOf(
    sql,
    sql`select ${sql.unsafe(subscription)} as json from (${subscriptions}) s ${itsPlan(sql, shopId)}`,
  );
}

/** A subscription in the format of the API's list, and when what it is listed for happened, epoch milliseconds. */
export interface SubscriptionText {
  readonly json: string;
  readonly happenedAt: number;
}

interface Listed {
  /** A part of a statement: subscriptions with `status_then`, the status that is shown, in their order. */
  readonly rows: Query<Record<string, unknown>[]>;
  /** Their order is by this column, then by id, both in one direction. */
  readonly by: 'created_at' | 'cancelled_at' | 'saved_at';
  readonly order: TimeOrder | undefined;
  readonly limit: number;
}

/** The first of some subscriptions. */
export function subscriptionTexts(
  sql: Sql | Transaction,
  shopId: number,
  { rows, by, order, limit }: Listed,
): Promise<SubscriptionText[]> {
  const moment = sql.id(by);
  const { by: direction } = orderOf(sql, order);
  return sql<SubscriptionText[]>`
    select ${sql.unsafe(subscriptionThen)} as json,
      (date_part('epoch', s.${moment}) * 1000)::bigint as "happenedAt"
    from (${rows}) s ${itsPlan(sql, shopId)}
    order by s.${moment} ${direction}, s.subscription_id ${direction} limit ${limit}`;
}

/** By id, highest first unless asked for otherwise: a customer has few subscriptions, and their index has no other order. */
export function listSubscriptionsOfCustomer(
  sql: Sql,
  shopId: number,
  customerId: number,
  page: Page,
): Promise<JsonRows> {
  const { id } = startOf(page.after, page.order);
  const { than, by } = orderOf(sql, page.order);
  const ofStatus = page.status === undefined ? sql`` : sql`and s.status = ${page.status}`;
  return jsonRowsOf(
    sql,
    sql`
    select ${sql.unsafe(subscription)} as json
    from subscriptions s ${itsPlan(sql, shopId)}
    where s.shop_id = ${shopId} and s.customer_id between ${customerId} and ${customerId} ${ofStatus}
      and s.subscription_id ${than} ${id}
    order by s.customer_id ${by}, s.subscription_id ${by}
    limit ${page.limit}`,
  );
}

export interface Interval {
  readonly unit: IntervalUnit;
  readonly count: number;
}

/** @returns the billing interval of each subscription: its own, or that of its plan */
export async function listIntervals(
  sql: Sql,
  shopId: number,
  subscriptionIds: readonly number[],
): Promise<ReadonlyMap<number, Interval>> {
  const rows = await withTimeout(sql<(Interval & { readonly id: number })[]>`
    select s.subscription_id as id, coalesce(s.own_interval_unit, p.interval_unit) as unit,
      coalesce(s.own_interval_count, p.interval_count) as count
    from unnest(${arrayText(subscriptionIds)}::bigint[]) requested (id)
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'requested.id')} s
    ${itsPlan(sql, shopId)}`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** @returns a subscription with its lines, as JSON text */
export async function findSubscription(
  sql: Sql,
  shopId: number,
  subscriptionId: number,
): Promise<string | undefined> {
  // One statement, so that a concurrent replacement never mixes old and new lines.
  const [found] = await withTimeout(sql<{ json: string }[]>`
    select ${sql.unsafe(subscriptionDetail)} as json
    from ${lookup(sql, shopId, 'subscriptions', 'subscription_id', subscriptionId)} s
    ${itsPlan(sql, shopId)}
    cross join lateral (
      select string_agg(json, ',' order by position) as items
      from (
        select ${sql.unsafe(lineItem)} as json, position from subscription_lines
        where shop_id = ${shopId} and subscription_id = s.subscription_id
        order by line_id offset 0
      ) line
    ) l`);
  return found?.json;
}

/** How many a shop has. Reads the keys of all of them. */
export async function countSubscriptions(sql: Sql, shopId: number): Promise<number> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from subscriptions where shop_id = ${shopId} order by subscription_id offset 0
    ) s`;
  return found?.count ?? 0;
}
