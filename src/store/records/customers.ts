import { hash } from 'node:crypto';
import { ownNumber } from '../../own-number.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';
import { each } from '../lookup.ts';
import { lockForWriting } from './writing.ts';

/**
 * Placeholder id for an unknown or redacted customer; always the same for a subscription.
 */
export function anonymousCustomerId(subscriptionId: number): number {
  return ownNumber(`contract:${subscriptionId}`);
}

const hashOf = (shopId: number, customerId: number) =>
  hash('sha256', `customer:${shopId}:${customerId}`, 'base64');

/** Finds the given customers who have been redacted and must not be stored again. */
export async function listRedacted(
  tx: Transaction,
  shopId: number,
  customerIds: readonly number[],
): Promise<Set<number>> {
  // Most shops have none; then no hashes are needed.
  const any = await tx`
    select customer_hash from redacted_customers where shop_id = ${shopId}
    order by customer_hash limit 1`;
  if (any.length === 0) return new Set();
  const byHash = new Map(customerIds.map((id) => [hashOf(shopId, id), id]));
  const rows = await tx<{ hash: string }[]>`
    select requested.hash from unnest(${arrayText([...byHash.keys()])}::text[]) requested (hash)
    cross join lateral (
      select from redacted_customers
      where shop_id = ${shopId} and customer_hash = decode(requested.hash, 'base64') limit 1
    ) redacted`;
  return new Set(rows.map((row) => byHash.get(row.hash) as number));
}

/** Stores customers who are not stored yet. */
export const insertCustomers = (tx: Transaction, shopId: number, ids: ReadonlySet<number>) => tx`
  insert into customers (shop_id, customer_id)
  select shop.shop_id, new.id from metric_shops shop
  cross join unnest(${arrayText([...ids])}::text::bigint[]) new (id)
  where shop.shop_id = ${shopId}
  on conflict do nothing`;

/**
 * Removes a customer's id, also from later imports: each of their subscriptions gets a placeholder id
 * instead. Metrics stay the same, except that each of these subscriptions now counts as one customer.
 */
export async function redactCustomer(
  tx: Transaction,
  shopId: number,
  customerId: number,
): Promise<void> {
  // As imports do: their writes are either visible here, or happen after this.
  if (!(await lockForWriting(tx, shopId))) return;
  await tx`
    insert into redacted_customers (shop_id, customer_hash)
    values (${shopId}, decode(${hashOf(shopId, customerId)}, 'base64')) on conflict do nothing`;
  const subscriptions = await tx<{ id: number }[]>`
    select subscription_id as id from ${each(tx, shopId, 'subscriptions', 'customer_id', customerId)} s`;
  const anonymousIds = new Set(subscriptions.map(({ id }) => anonymousCustomerId(id)));
  await insertCustomers(tx, shopId, anonymousIds);
  for (const { id } of subscriptions) {
    await tx`
      update subscriptions set customer_id = ${anonymousCustomerId(id)}
      where shop_id = ${shopId} and subscription_id = ${id}`;
  }
  await tx`delete from customers where shop_id = ${shopId} and customer_id = ${customerId}`;
}

/** Everything stored about a customer, by subscription, oldest first. */
export async function listAllOfCustomer(
  sql: Sql,
  shopId: number,
  customerId: number,
): Promise<object[]> {
  const rows = await sql<{ subscription: object }[]>`
    select json_build_object(
      'id', s.subscription_id, 'planId', s.plan_id, 'status', s.status,
      'statusSince', s.status_since, 'price', s.current_price::text,
      'nextBillingAt', s.next_billing_at, 'paidThroughAt', s.paid_through_at,
      'trialEndsAt', s.trial_ends_at,
      'pastValues', s.past_values,
      'createdAt', s.created_at, 'updatedAt', s.updated_at,
      'lines', (select coalesce(json_agg(json_build_object('productId', l.product_id,
          'productTitle', l.product_title, 'variantId', l.variant_id,
          'variantTitle', l.variant_title, 'quantity', l.quantity,
          'price', l.current_price::text, 'intervalUnit', l.interval_unit,
          'intervalCount', l.interval_count) order by l.position), '[]')
        from ${each(sql, shopId, 'subscription_lines', 'subscription_id', 's.subscription_id')} l),
      'statusEvents', (select coalesce(json_agg(json_build_object('at', e.at,
          'from', e.from_status, 'to', e.to_status) order by e.position), '[]')
        from ${each(sql, shopId, 'status_events', 'subscription_id', 's.subscription_id')} e),
      'contacted', (select coalesce(json_agg(c.contacted_at order by c.contacted_at), '[]')
        from ${each(sql, shopId, 'contacted_cases', 'subscription_id', 's.subscription_id')} c),
      'payments', (select coalesce(json_agg(json_build_object('id', p.payment_id,
          'cycle', p.cycle, 'status', p.status, 'amount', p.amount::text,
          'processedAt', p.processed_at,
          'refunds', (select coalesce(json_agg(json_build_object('id', r.refund_id,
              'amount', r.amount::text, 'refundedAt', r.refunded_at) order by r.refunded_at), '[]')
            from ${each(sql, shopId, 'refunds', 'payment_id', 'p.payment_id')} r)
          ) order by p.processed_at), '[]')
        from ${each(sql, shopId, 'payments', 'subscription_id', 's.subscription_id')} p),
      'cancellations', (select coalesce(json_agg(json_build_object('id', c.session_id,
          'reason', c.detected_reason, 'offer', c.offer_type, 'outcome', c.outcome,
          'createdAt', c.created_at) order by c.created_at), '[]')
        from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 's.subscription_id')} c)
    ) as subscription
    from ${each(sql, shopId, 'subscriptions', 'customer_id', customerId)} s
    order by s.created_at, s.subscription_id`;
  return rows.map((row) => row.subscription);
}
