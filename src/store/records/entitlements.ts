import type { PlanType, SubscriptionStatus } from '../../vocabulary.ts';
import { type Sql, withTimeout, arrayText, isOfStatement } from '../database.ts';
import { listStatusesAt } from './subscriptions.ts';

export interface EntitlementRow {
  readonly subscriptionId: number;
  readonly planId: number;
  readonly planName: string;
  readonly planType: PlanType;
  readonly status: SubscriptionStatus;
  /** Epoch milliseconds. */
  readonly paidThroughAt: number | null;
}

interface FoundRow extends EntitlementRow {
  /** Of its look-up in the statement, from 1. */
  readonly place: number;
  /** When the status began, epoch milliseconds; null if that is unknown. In the future by minutes at most. */
  readonly statusSince: number | null;
}

/** A request's look-up, and the rows found for it. */
interface Lookup {
  readonly shopId: number;
  readonly customerId: number;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly rows: FoundRow[];
  resolve(rows: readonly EntitlementRow[]): void;
  reject(error: unknown): void;
}

/** With more look-ups, the database would start later than necessary. */
const lookupsPerStatement = 24;

/**
 * Looks up customers' entitlements. Requests that arrive in the same turn of the event loop share a statement,
 * whatever their shops, since most of a look-up's cost, here and in the database, is per statement.
 */
export class Entitlements {
  readonly #sql: Sql;
  /** Not sent yet. */
  #waiting: Lookup[] = [];

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @param now epoch milliseconds @returns the customer's subscriptions, by id; empty for an unknown customer */
  of(shopId: number, customerId: number, now: number): Promise<readonly EntitlementRow[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting());
      this.#waiting.push({ shopId, customerId, now, rows: [], resolve, reject });
      if (this.#waiting.length === lookupsPerStatement) this.#sendWaiting();
    });
  }

  #sendWaiting(): void {
    const lookups = this.#waiting;
    this.#waiting = [];
    if (lookups.length > 0) void this.#send(lookups);
  }

  async #send(lookups: readonly Lookup[]): Promise<void> {
    try {
      for (const row of await listEntitlements(this.#sql, lookups)) {
        (lookups[row.place - 1] as Lookup).rows.push(row);
      }
      for (const { rows, resolve, reject, ...asked } of lookups) {
        const sorted = rows.toSorted(bySubscription);
        const early = sorted.filter(({ statusSince }) => (statusSince ?? 0) > asked.now);
        if (early.length === 0) resolve(sorted);
        else this.#beforeChanges(asked, sorted, early).then(resolve, reject);
      }
    } catch (error) {
      // The node of a cluster that has one of the shops may have failed; the other shops are elsewhere.
      const isTriedAlone = lookups.length > 1 && isOfStatement(error);
      for (const each of lookups) {
        if (isTriedAlone) void this.#send([each]);
        else each.reject(error);
      }
    }
  }

  /** Rows with the status before that of some of them, which begins only later. @param early those */
  async #beforeChanges(
    { shopId, now }: Pick<Lookup, 'shopId' | 'now'>,
    rows: readonly FoundRow[],
    early: readonly FoundRow[],
  ): Promise<EntitlementRow[]> {
    const found = await listStatusesAt(
      this.#sql.ofShop(shopId),
      shopId,
      early.map(({ subscriptionId }) => subscriptionId),
      now,
    );
    const statuses = new Map(found.map(({ id, status }) => [id, status]));
    return rows.map((row) => ({ ...row, status: statuses.get(row.subscriptionId) ?? row.status }));
  }
}

const bySubscription = (one: EntitlementRow, other: EntitlementRow) =>
  one.subscriptionId - other.subscriptionId;

/**
 * In no order. The form of the look-ups leaves the planner no choice (docs/decisions/0005-plans-and-statements.md), and an order is the
 * only such form that a cluster takes. The list of shops says to a cluster which nodes to ask; behind `or`, one server
 * compares it with what it finds, instead of looking up each shop of the list.
 */
function listEntitlements(sql: Sql, lookups: readonly Lookup[]): Promise<FoundRow[]> {
  const shopIds = lookups.map(({ shopId }) => shopId);
  const customerIds = arrayText(lookups.map(({ customerId }) => customerId));
  if (sql.isByShop) {
    // The same look-ups, in a view of what the setting asks for (migrations/serving.sql).
    const query = sql<FoundRow[]>`select * from asked_entitlements`;
    query.setting = ['retention.asked', `{${arrayText(shopIds)},${customerIds}}`];
    return withTimeout(query);
  }
  const shops = arrayText([...new Set(shopIds)]);
  return withTimeout(sql<FoundRow[]>`
    select requested.place, s.subscription_id as "subscriptionId", s.plan_id as "planId",
      p.name as "planName", p.plan_type as "planType", s.status,
      (date_part('epoch', s.paid_through_at) * 1000)::bigint as "paidThroughAt",
      (date_part('epoch', s.status_since) * 1000)::bigint as "statusSince"
    from unnest(${arrayText(shopIds)}::bigint[], ${customerIds}::bigint[])
        with ordinality requested (shop_id, customer_id, place),
      lateral (select * from subscriptions
        where (${false}::boolean or shop_id = any (${shops}::bigint[])) and shop_id = requested.shop_id
          and customer_id between requested.customer_id and requested.customer_id
        order by customer_id) s,
      lateral (select * from plans
        where (${false}::boolean or shop_id = any (${shops}::bigint[])) and shop_id = s.shop_id and plan_id = s.plan_id
        order by plan_id) p`);
}
