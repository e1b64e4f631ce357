import type { PlanType, SubscriptionStatus } from '../../vocabulary.ts';
import { type Sql, withTimeout, arrayText } from '../database.ts';

export interface EntitlementRow {
  readonly customerId: number;
  readonly subscriptionId: number;
  readonly planId: number;
  readonly planName: string;
  readonly planType: PlanType;
  readonly status: SubscriptionStatus;
  /** Epoch milliseconds. */
  readonly paidThroughAt: number | null;
}

/** Pending look-ups by customer. */
type Batch = Map<number, PromiseWithResolvers<readonly EntitlementRow[]>>;

/** With more customers, the database would start later than necessary. */
const customersPerStatement = 24;

/**
 * Looks up customers' entitlements. Requests for one shop that arrive in the same turn of the event loop
 * share a statement, since most of a look-up's cost, here and in the database, is per statement.
 */
export class Entitlements {
  readonly #sql: Sql;
  /** Batches that have not been sent yet, by shop. */
  readonly #batches = new Map<number, Batch>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns the customer's subscriptions, by id; empty for an unknown customer */
  of(shopId: number, customerId: number): Promise<readonly EntitlementRow[]> {
    const batch = this.#batches.get(shopId) ?? this.#openBatch(shopId);
    let pending = batch.get(customerId);
    if (!pending) {
      pending = Promise.withResolvers();
      batch.set(customerId, pending);
      if (batch.size === customersPerStatement) void this.#send(shopId, batch);
    }
    return pending.promise;
  }

  #openBatch(shopId: number): Batch {
    const batch: Batch = new Map();
    this.#batches.set(shopId, batch);
    setImmediate(() => void this.#send(shopId, batch));
    return batch;
  }

  async #send(shopId: number, batch: Batch): Promise<void> {
    // It was already sent because it was full.
    if (this.#batches.get(shopId) !== batch) return;
    this.#batches.delete(shopId);
    try {
      const rows = await listEntitlements(this.#sql, shopId, [...batch.keys()]);
      const found = Map.groupBy(rows, (row) => row.customerId);
      for (const [customerId, { resolve }] of batch) {
        resolve((found.get(customerId) ?? []).toSorted(bySubscription));
      }
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }
}

const bySubscription = (one: EntitlementRow, other: EntitlementRow) =>
  one.subscriptionId - other.subscriptionId;

/** In no order. The form of the look-ups leaves the planner no choice (docs/decisions/0032-plans.md). */
function listEntitlements(
  sql: Sql,
  shopId: number,
  customerIds: readonly number[],
): Promise<EntitlementRow[]> {
  return withTimeout(sql<EntitlementRow[]>`
    select s.customer_id as "customerId", s.subscription_id as "subscriptionId",
      s.plan_id as "planId", p.name as "planName", p.plan_type as "planType", s.status,
      (date_part('epoch', s.paid_through_at) * 1000)::bigint as "paidThroughAt"
    from unnest(${arrayText(customerIds)}::bigint[]) requested (customer_id),
      lateral (select * from subscriptions
        where shop_id = ${shopId}
          and customer_id between requested.customer_id and requested.customer_id
        order by customer_id offset 0) s,
      lateral (select * from plans
        where shop_id = ${shopId} and plan_id = s.plan_id offset 0) p`);
}
