import type { PlanType, SubscriptionStatus } from '../vocabulary.ts';
import { answerOf, type Sql } from './database.ts';

export interface SubscriptionRow {
  readonly subscriptionId: number;
  readonly customerId: number;
  readonly status: SubscriptionStatus;
  readonly planId: number;
  readonly planName: string;
  readonly planType: PlanType;
  /** A decimal as text. */
  readonly currentPrice: string;
  /** Epoch milliseconds, as all times here. */
  readonly nextBillingAt: number | null;
  readonly createdAt: number;
}

export interface LineRow {
  readonly lineId: number;
  readonly productId: number;
  readonly productTitle: string;
  readonly variantId: number;
  readonly variantTitle: string;
  readonly quantity: number;
  /** A decimal as text. */
  readonly currentPrice: string;
}

export interface EntitlementRow {
  readonly subscriptionId: number;
  readonly planId: number;
  readonly planName: string;
  readonly planType: PlanType;
  readonly status: SubscriptionStatus;
  readonly paidThroughAt: number | null;
}

/** Where a page ends: the last row's place in the order. Times are epoch milliseconds. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

/** The text of a timestamp parameter; a listing's first page begins after every row. */
export function startOf(after: Position | undefined): { at: string; id: number } {
  return after
    ? { at: new Date(after.createdAt).toISOString(), id: after.id }
    : { at: 'infinity', id: Number.MAX_SAFE_INTEGER };
}

export async function listEntitlements(
  sql: Sql,
  shopId: number,
  customerId: number,
): Promise<EntitlementRow[]> {
  return answerOf(
    sql<EntitlementRow[]>`
    select s.subscription_id as "subscriptionId", s.plan_id as "planId", p.name as "planName",
      p.plan_type as "planType", s.status,
      (date_part('epoch', s.paid_through_at) * 1000)::bigint as "paidThroughAt"
    from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shopId} and s.customer_id = ${customerId}
    order by s.subscription_id`,
  );
}

const columns = (sql: Sql) => sql`
  s.subscription_id as "subscriptionId", s.customer_id as "customerId", s.status,
  s.plan_id as "planId", p.name as "planName", p.plan_type as "planType",
  s.current_price as "currentPrice",
  (date_part('epoch', s.next_billing_at) * 1000)::bigint as "nextBillingAt",
  (date_part('epoch', s.created_at) * 1000)::bigint as "createdAt"`;

interface Page {
  readonly status: SubscriptionStatus | undefined;
  readonly after: Position | undefined;
  readonly limit: number;
}

/** Newest first: created_at, then id, both descending; the same cost at any depth. */
export async function listSubscriptions(
  sql: Sql,
  shopId: number,
  page: Page,
): Promise<SubscriptionRow[]> {
  const { at, id } = startOf(page.after);
  const ofStatus = page.status === undefined ? sql`` : sql`and s.status = ${page.status}`;
  return answerOf(
    sql<SubscriptionRow[]>`
    select ${columns(sql)}
    from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shopId} ${ofStatus}
      and (s.created_at, s.subscription_id) < (${at}, ${id})
    order by s.created_at desc, s.subscription_id desc
    limit ${page.limit}`,
  );
}

export async function findSubscription(
  sql: Sql,
  shopId: number,
  subscriptionId: number,
): Promise<(SubscriptionRow & { lines: LineRow[] }) | undefined> {
  // One statement, so that a subscription that is being replaced never shows another's lines.
  const [subscription] = await answerOf(
    sql<(SubscriptionRow & { lines: LineRow[] })[]>`
    select ${columns(sql)}, (
      select coalesce(json_agg(json_build_object(
        'lineId', l.line_id, 'productId', l.product_id, 'productTitle', l.product_title,
        'variantId', l.variant_id, 'variantTitle', l.variant_title,
        'quantity', l.quantity, 'currentPrice', l.current_price::text
      ) order by l.position), '[]')
      from subscription_lines l
      where l.shop_id = s.shop_id and l.subscription_id = s.subscription_id
    ) as lines
    from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
    where s.shop_id = ${shopId} and s.subscription_id = ${subscriptionId}`,
  );
  return subscription;
}
