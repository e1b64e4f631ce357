import {
  type IntervalUnit,
  type SubscriptionStatus,
  subscriptionStatuses,
} from '../../vocabulary.ts';
import { isoTime } from '../../iso-time.ts';
import { shopDigitsOf } from '../../money.ts';
import type { Query } from '../connections/query.ts';
import { withTimeout, arrayText, type Sql, type Transaction } from '../database.ts';
import { each, lookup } from '../lookup.ts';
import type { Shop } from '../shops.ts';
import {
  type JsonRows,
  type Position,
  type TimeOrder,
  keyset,
  array,
  amount,
  instant,
  integer,
  nullable,
  object,
  jsonRowsOf,
  text,
  enumValue,
  byCreation,
} from './listing.ts';

/** Of a shop, what its subscriptions' prices are rounded by. */
export type ShopOfPrices = Pick<Shop, 'id' | 'currency'>;

const fieldsIn = (digits: number) => ({
  subscriptionId: integer('s.subscription_id'),
  customerId: integer('s.customer_id'),
  status: enumValue('s.status'),
  planId: integer('s.plan_id'),
  planName: text('p.name'),
  planType: enumValue('p.plan_type'),
  currentPrice: amount('s.current_price', digits),
  nextBillingDate: nullable(instant('s.next_billing_at')),
  createdAt: instant('s.created_at'),
});

const lineItemIn = (digits: number) =>
  object({
    lineId: integer('line_id'),
    productId: integer('product_id'),
    productTitle: text('product_title'),
    variantId: integer('variant_id'),
    variantTitle: text('variant_title'),
    quantity: integer('quantity'),
    currentPrice: amount('current_price', digits),
  });

/** What pages show beside: how often it is billed, and what it is worth a month, and from when. */
const shownFields = {
  trialEndsAt: nullable(instant('s.trial_ends_at')),
  interval: object({
    unit: enumValue('coalesce(s.own_interval_unit, p.interval_unit)'),
    count: integer('coalesce(s.own_interval_count, p.interval_count)'),
  }),
  value: enumValue(`worth_until(null, s.current_price, s.other_intervals, null, null,
    s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)`),
};

/** As `statusAt` has it. */
const statusNow = { status: enumValue('n.status') };

const formsIn = (digits: number) => ({
  subscription: object({ ...fieldsIn(digits), ...statusNow }),
  subscriptionShown: object({ ...fieldsIn(digits), ...shownFields }),
  subscriptionThen: object({
    ...fieldsIn(digits),
    ...shownFields,
    status: enumValue('s.status_then'),
    value: enumValue(`worth_until(s.worth_until, s.current_price, s.other_intervals,
      case when s.worth_until is not null then s.past_values end, null,
      s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)`),
  }),
  subscriptionDetail: object({ ...fieldsIn(digits), ...statusNow, lineItems: array('l.items') }),
  lineItem: lineItemIn(digits),
});

const forms = new Map<number, ReturnType<typeof formsIn>>();

/** A subscription and its parts as JSON, with amounts in the shop's currency. */
function formsOf({ currency }: ShopOfPrices): ReturnType<typeof formsIn> {
  const digits = shopDigitsOf(currency);
  return forms.getOrInsertComputed(digits, formsIn);
}

/** The plan of the subscription `s`, as `p`. */
export const itsPlan = (sql: Sql | Transaction, shopId: number) => sql`
  cross join lateral (
    select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
  ) p`;

/**
 * The status of the subscription `s` at a time, as `n.status`: the last one stored, unless that begins only later, as it
 * may by minutes, since clocks differ.
 */
const statusAt = (sql: Sql | Transaction, shopId: number, now: string) => sql`
  cross join lateral (
    select case when s.status_since > ${now} then coalesce((
      select (array_agg(e.to_status order by e.position desc) filter (where e.at <= ${now}))[1]
      from status_events e where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id), 'active')
    else s.status end as status
  ) n`;

/** By when they began, or by what they are worth a month. */
export type SubscriptionOrder = TimeOrder | 'highest' | 'lowest';

export interface SubscriptionPaging<Order extends string = SubscriptionOrder> {
  /** The newest first, if it is left out. */
  readonly order?: Order | undefined;
  /** The last row of the page before, with its value if they are sorted by it. */
  readonly after: (Position & { readonly value?: string }) | undefined;
  readonly limit: number;
}

interface Page<Order extends string = SubscriptionOrder> extends SubscriptionPaging<Order> {
  readonly status: SubscriptionStatus | undefined;
}

/**
 * By when they began, for the API. Costs the same on every page. Those of a status are found by the last one stored, which
 * their index has, and shown with it.
 * @param now epoch milliseconds
 */
export function listSubscriptions(
  sql: Sql,
  shop: ShopOfPrices,
  now: number,
  page: Page<TimeOrder>,
): Promise<JsonRows> {
  const shown =
    page.status === undefined
      ? statusAt(sql, shop.id, new Date(now).toISOString())
      : sql`cross join lateral (select s.status) n`;
  return jsonRowsOf(
    sql,
    sql`
    select ${sql.unsafe(formsOf(shop).subscription)} as json
    from (${walkByTime(sql, shop.id, page)}) s
    ${itsPlan(sql, shop.id)} ${shown}`,
  );
}

/** For pages, with the status of the last record, also by value. Costs the same on every page. */
export function listSubscriptionsShown(
  sql: Sql,
  shop: ShopOfPrices,
  { status, order, ...page }: Page,
): Promise<JsonRows> {
  const walk = isByValue(order)
    ? walkByValue(sql, shop.id, { order, ...page }, status && [status])
    : walkByTime(sql, shop.id, { status, order, ...page });
  return subscriptionsAsJson(sql, shop, walk);
}

/** Subscriptions by when they began, as part of a statement. */
const walkByTime = (
  sql: Sql,
  shopId: number,
  { status, ...page }: Page<TimeOrder>,
): Query<Record<string, unknown>[]> => sql`
  select * from subscriptions
  where shop_id = ${shopId} ${byCreation(sql, 'subscription_id', ['status', status], page)}`;

export const isByValue = (order: SubscriptionOrder | undefined): order is 'highest' | 'lowest' =>
  order === 'highest' || order === 'lowest';

/** Whether an order has the least first. */
export const directionOf = (order: SubscriptionOrder | undefined): TimeOrder =>
  order === 'lowest' || order === 'oldest' ? 'oldest' : 'newest';

/** The order by value, as parts of a statement, of rows with `value`. */
const valueOrder = (
  sql: Sql | Transaction,
  { order, after }: Pick<SubscriptionPaging, 'order' | 'after'>,
) =>
  keyset(
    sql,
    directionOf(order),
    ['value', 'subscription_id'],
    after && { value: after.value ?? '0', subscription_id: after.id },
  );

/**
 * Subscriptions by what they are worth a month, as part of a statement: the index has those of each status in order, and
 * they are merged, as many as are needed.
 */
export function walkByValue(
  sql: Sql | Transaction,
  shopId: number,
  { limit, ...place }: SubscriptionPaging,
  statuses: readonly SubscriptionStatus[] = subscriptionStatuses,
): Query<Record<string, unknown>[]> {
  const { beyond, by } = valueOrder(sql, place);
  const merged = statuses
    .map(
      (status) => sql`(
        select subscription_id, value from subscription_values
        where shop_id = ${shopId} and status = ${status} and ${beyond}
        order by ${by()} limit ${limit}
      )`,
    )
    .reduce((all, next) => sql`${all} union all ${next}`);
  return sql`
    select s.*, w.value from (select * from (${merged}) w order by ${by()} limit ${limit}) w
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'w.subscription_id')} s`;
}

/** Some subscriptions for pages, each with its plan. @param subscriptions a part of a statement, in their order */
export function subscriptionsAsJson(
  sql: Sql | Transaction,
  shop: ShopOfPrices,
  subscriptions: Query<Record<string, unknown>[]>,
): Promise<JsonRows> {
  return jsonRowsOf(
    sql,
    sql`select ${sql.unsafe(formsOf(shop).subscriptionShown)} as json from (${subscriptions}) s ${itsPlan(sql, shop.id)}`,
  );
}

/** A subscription in the format of the API's list, and when what it is listed for happened, epoch milliseconds. */
export interface SubscriptionText {
  readonly json: string;
  readonly happenedAt: number;
}

interface Listed {
  /**
   * A part of a statement: subscriptions with `status_then`, the status that is shown, in their order, and `worth_until`,
   * if they are shown with what they were worth then instead of now.
   */
  readonly rows: Query<Record<string, unknown>[]>;
  /** When what they are listed for happened, by which they are sorted, then by id; or by value. */
  readonly moment: 'created_at' | 'cancelled_at' | 'saved_at';
  readonly order: SubscriptionOrder | undefined;
  readonly limit: number;
}

/** The first of some subscriptions. */
export function subscriptionTexts(
  sql: Sql | Transaction,
  shop: ShopOfPrices,
  { rows, moment, order, limit }: Listed,
): Promise<SubscriptionText[]> {
  const column = isByValue(order) ? 'value' : moment;
  const { by } = keyset(sql, directionOf(order), [column, 'subscription_id']);
  return sql<SubscriptionText[]>`
    select ${sql.unsafe(formsOf(shop).subscriptionThen)} as json,
      (date_part('epoch', s.${sql.id(moment)}) * 1000)::bigint as "happenedAt"
    from (${rows}) s ${itsPlan(sql, shop.id)}
    order by ${by('s')} limit ${limit}`;
}

/** For pages, as listSubscriptionsShown has them. Reads all of the customer's. */
export function listSubscriptionsOfCustomer(
  sql: Sql,
  shop: ShopOfPrices,
  customerId: number,
  { status, order, after, limit }: Page,
): Promise<JsonRows> {
  const ofStatus = status === undefined ? sql`` : sql`and s.status = ${status}`;
  const { beyond, by } = isByValue(order)
    ? valueOrder(sql, { order, after })
    : keyset(
        sql,
        directionOf(order),
        ['created_at', 'subscription_id'],
        after && { created_at: isoTime(after.createdAt), subscription_id: after.id },
      );
  const all = each(sql, shop.id, 'subscriptions', 'customer_id', customerId);
  const theirs = isByValue(order)
    ? sql`select s.*, v.value from ${all} s
        cross join ${lookup(sql, shop.id, 'subscription_values', 'subscription_id', 's.subscription_id')} v`
    : sql`select * from ${all} s`;
  return subscriptionsAsJson(
    sql,
    shop,
    sql`
    select * from (${theirs} where true ${ofStatus}) found
    where ${beyond} order by ${by()} limit ${limit}`,
  );
}

/** What the subscription `s` of the plan `p` was worth a month until a time, a column; 0 in a trial. */
export const worthUntil = (sql: Sql | Transaction, time: string) => sql`
  worth_until(${sql.id(time)}, s.current_price, s.other_intervals, s.past_values, s.trial_ends_at,
    s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)`;

interface CountedSubscriptions {
  readonly status?: SubscriptionStatus | undefined;
  readonly customer?: number | undefined;
}

/** How many subscriptions there are, of a status or of a customer if one is given; up to a limit, or all. */
export async function countSubscriptions(
  sql: Sql,
  shopId: number,
  { status, customer }: CountedSubscriptions = {},
  limit: number | null = null,
): Promise<number> {
  const found =
    customer !== undefined
      ? sql`select from ${each(sql, shopId, 'subscriptions', 'customer_id', customer)} s
          where status = coalesce(${status ?? null}, status)`
      : status === undefined
        ? sql`select from subscriptions where shop_id = ${shopId} order by created_at, subscription_id`
        : sql`select from subscriptions where shop_id = ${shopId} and status between ${status} and ${status}
            order by status, created_at, subscription_id`;
  const [row] = await withTimeout(sql<{ count: number }[]>`
    select count(*)::integer as count from (${found} limit ${limit}) found`);
  return row?.count ?? 0;
}

/** The status of each subscription at a time. @param now epoch milliseconds */
export function listStatusesAt(
  sql: Sql,
  shopId: number,
  subscriptionIds: readonly number[],
  now: number,
): Promise<{ readonly id: number; readonly status: SubscriptionStatus }[]> {
  return withTimeout(sql<{ id: number; status: SubscriptionStatus }[]>`
    select s.subscription_id as id, n.status
    from unnest(${arrayText(subscriptionIds)}::bigint[]) requested (id)
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'requested.id')} s
    ${statusAt(sql, shopId, new Date(now).toISOString())}`);
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

/** @param now epoch milliseconds @returns a subscription with its lines, as JSON text */
export async function findSubscription(
  sql: Sql,
  shop: ShopOfPrices,
  subscriptionId: number,
  now: number,
): Promise<string | undefined> {
  // One statement, so that a concurrent replacement never mixes old and new lines.
  const [found] = await withTimeout(sql<{ json: string }[]>`
    select ${sql.unsafe(formsOf(shop).subscriptionDetail)} as json
    from ${lookup(sql, shop.id, 'subscriptions', 'subscription_id', subscriptionId)} s
    ${itsPlan(sql, shop.id)} ${statusAt(sql, shop.id, new Date(now).toISOString())}
    cross join lateral (
      select string_agg(json, ',' order by position) as items
      from (
        select ${sql.unsafe(formsOf(shop).lineItem)} as json, position from subscription_lines
        where shop_id = ${shop.id} and subscription_id = s.subscription_id
        order by line_id offset 0
      ) line
    ) l`);
  return found?.json;
}
