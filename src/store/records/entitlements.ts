import type { PlanType, SubscriptionStatus } from '../../vocabulary.ts';
import { type Sql, answerOf, arrayText } from '../database.ts';

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

/** By customer, what whoever asked for them waits for. */
type Batch = Map<number, PromiseWithResolvers<readonly EntitlementRow[]>>;

/** With more of them the database begins later than it could. */
const customersPerStatement = 24;

/**
 * What customers are entitled to. Requests of one shop that arrive in the same turn of the event loop
 * share a statement: most of the cost of a look-up, here and in the database, is that of a statement.
 */
export class Entitlements {
  readonly #sql: Sql;
  /** What is not yet sent, by shop. */
  readonly #batches = new Map<number, Batch>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @returns the customer's subscriptions, by id; none for an unknown customer */
  of(shopId: number, customerId: number): Promise<readonly EntitlementRow[]> {
    const batch = this.#batches.get(shopId) ?? this.#begin(shopId);
    let wanted = batch.get(customerId);
    if (!wanted) {
      wanted = Promise.withResolvers();
      batch.set(customerId, wanted);
      if (batch.size === customersPerStatement) void this.#send(shopId, batch);
    }
    return wanted.promise;
  }

  #begin(shopId: number): Batch {
    const batch: Batch = new Map();
    this.#batches.set(shopId, batch);
    setImmediate(() => void this.#send(shopId, batch));
    return batch;
  }

  async #send(shopId: number, batch: Batch): Promise<void> {
    // It was full, and so was sent before the turn ended.
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

/** In no order. Each `offset 0` keeps the planner from anything but a few look-ups by index. */
function listEntitlements(
  sql: Sql,
  shopId: number,
  customerIds: readonly number[],
): Promise<EntitlementRow[]> {
  return answerOf(sql<EntitlementRow[]>`
    select s.customer_id as "customerId", s.subscription_id as "subscriptionId",
      s.plan_id as "planId", p.name as "planName", p.plan_type as "planType", s.status,
      (date_part('epoch', s.paid_through_at) * 1000)::bigint as "paidThroughAt"
    from unnest(${arrayText(customerIds)}::bigint[]) wanted (customer_id),
      lateral (select * from subscriptions
        where shop_id = ${shopId} and customer_id = wanted.customer_id offset 0) s,
      lateral (select * from plans
        where shop_id = ${shopId} and plan_id = s.plan_id offset 0) p`);
}
