import type { Sql } from '../../../store/database.ts';
import { unnest } from '../../../store/arrays.ts';
import { lookup } from '../../../store/lookup.ts';

/** The state of a shop's sync with Shopify. */
export interface ShopifySync {
  /** `name.myshopify.com` */
  readonly domain: string;
  /** All changes before it, by Shopify's clock, are stored; null before the first full sync. */
  readonly watermark: Date | null;
  readonly reconciledAt: Date | null;
  /** The same for billing attempts and refunds; null if everything has to be read. */
  readonly paymentsWatermark: Date | null;
  /** Unfinished bulk operations, and when the first of them started. */
  readonly plansOperation: string | null;
  readonly contractsOperation: string | null;
  readonly operationsBegunAt: Date | null;
}

export async function findShopifySync(sql: Sql, shopId: number): Promise<ShopifySync | undefined> {
  const [sync] = await sql<ShopifySync[]>`
    select domain, watermark, reconciled_at as "reconciledAt",
      payments_watermark as "paymentsWatermark",
      plans_operation as "plansOperation", contracts_operation as "contractsOperation",
      operations_begun_at as "operationsBegunAt"
    from shopify_syncs where shop_id = ${shopId}`;
  return sync;
}

/** Assigns the shop to a Shopify shop, and resets the sync. */
export async function beginShopifySync(sql: Sql, shopId: number, domain: string): Promise<void> {
  await sql`
    insert into shopify_syncs (shop_id, domain) values (${shopId}, ${domain})
    on conflict (shop_id) do update set
      domain = excluded.domain, watermark = null, reconciled_at = null,
      payments_watermark = null, plans_operation = null, contracts_operation = null,
      operations_begun_at = null`;
}

/** Saves an operation of plans or contracts, so that another process can resume it; null clears it. */
export async function updateOperation(
  sql: Sql,
  shopId: number,
  kind: string,
  id: string | null,
  at: Date,
): Promise<void> {
  await sql`
    update shopify_syncs set
      plans_operation = case when ${kind} = 'plans' then ${id} else plans_operation end,
      contracts_operation = case when ${kind} = 'contracts' then ${id} else contracts_operation end,
      operations_begun_at = coalesce(operations_begun_at, ${at})
    where shop_id = ${shopId}`;
}

/** Clears operations that are too old to resume. */
export async function forgetOperations(sql: Sql, shopId: number): Promise<void> {
  await sql`
    update shopify_syncs set plans_operation = null, contracts_operation = null,
      operations_begun_at = null
    where shop_id = ${shopId}`;
}

/** Records that a full sync is complete. The watermark never moves back. */
export async function completeShopifySync(
  sql: Sql,
  shopId: number,
  { watermark, reconciledAt }: { readonly watermark: Date; readonly reconciledAt: Date },
): Promise<void> {
  await sql`
    update shopify_syncs set watermark = greatest(watermark, ${watermark}),
      payments_watermark = greatest(payments_watermark, ${watermark}),
      reconciled_at = ${reconciledAt}, plans_operation = null, contracts_operation = null,
      operations_begun_at = null
    where shop_id = ${shopId}`;
}

/** The same for attempts and refunds alone. If the shop was connected again meanwhile, everything stays due. */
export async function completePayments(sql: Sql, shopId: number, watermark: Date): Promise<void> {
  await sql`
    update shopify_syncs set payments_watermark = greatest(payments_watermark, ${watermark}),
      plans_operation = null, contracts_operation = null, operations_begun_at = null
    where shop_id = ${shopId} and payments_watermark is not null`;
}

/** A billing attempt as Shopify reports it. */
export interface ReportedPayment {
  readonly contract: number;
  /** 0 for whatever else has to be read again. */
  readonly attempt: number;
  readonly status: string;
  /** Null if Shopify does not show it. */
  readonly amount: string | null;
}

/** The contracts with a payment that is not stored as reported. Those that are not stored at all are left out. */
export async function listOutdatedContracts(
  sql: Sql,
  shopId: number,
  reported: readonly ReportedPayment[],
): Promise<number[]> {
  const types = { contract: 'bigint', attempt: 'bigint', status: 'text', amount: 'numeric' };
  const rows = await sql<{ id: number }[]>`
    select distinct s.subscription_id as id
    from ${unnest(sql, 'r', types, reported)}
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'r.contract')} s
    left join ${lookup(sql, shopId, 'payments', 'payment_id', 'r.attempt')} p on true
    where p.status is distinct from r.status or p.amount <> r.amount
    order by 1`;
  return rows.map(({ id }) => id);
}

/** The watermark never moves back. */
export async function advanceWatermark(sql: Sql, shopId: number, to: Date): Promise<void> {
  await sql`
    update shopify_syncs set watermark = greatest(watermark, ${to}) where shop_id = ${shopId}`;
}

/** Whether the shop has plans or subscriptions. */
export async function hasRecords(sql: Sql, shopId: number): Promise<boolean> {
  const createdBefore = new Date('9999-12-31T00:00:00Z');
  const [found] = await listSubscriptionIds(sql, shopId, { after: 0, createdBefore, limit: 1 });
  return found !== undefined || (await listStoredPlans(sql, shopId)).length > 0;
}

/** Whether the shop has plans or subscriptions that may come from another source. */
export async function hasForeignRecords(sql: Sql, shopId: number): Promise<boolean> {
  const [found] = await sql<{ foreign: boolean }[]>`
    select (
        exists (select from plans where shop_id = ${shopId})
        or exists (select from subscriptions where shop_id = ${shopId})
      ) and (
        exists (select from feeds where shop_id = ${shopId} and feed not like 'shopify%')
        or not exists (select from feeds where shop_id = ${shopId} and feed like 'shopify%')
      ) as foreign`;
  return found?.foreign === true;
}

/** One page of the ids of subscriptions created before a time, in ascending order. */
export async function listSubscriptionIds(
  sql: Sql,
  shopId: number,
  { after, createdBefore, limit }: { after: number; createdBefore: Date; limit: number },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select subscription_id as id
    from (
      select subscription_id, created_at from subscriptions
      where shop_id = ${shopId} and subscription_id > ${after}
      order by subscription_id offset 0
    ) s
    where created_at < ${createdBefore} limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** A plan with all fields of its record. */
export interface StoredPlan {
  readonly id: number;
  readonly name: string;
  readonly groupName: string;
  readonly planType: string;
  readonly intervalUnit: string;
  readonly intervalCount: number;
  readonly active: boolean;
  readonly productCount: number;
  readonly discountType: string;
  readonly discountValue: string;
  readonly summary: string;
  readonly isUsed: boolean;
}

export async function listStoredPlans(sql: Sql, shopId: number): Promise<StoredPlan[]> {
  return sql<StoredPlan[]>`
    select p.plan_id as id, name, group_name as "groupName", plan_type as "planType",
      interval_unit as "intervalUnit", interval_count as "intervalCount", active,
      product_count as "productCount", discount_type as "discountType",
      discount_value as "discountValue", pricing_summary as summary,
      used.plan_id is not null as "isUsed"
    from plans p
    left join ${lookup(sql, shopId, 'subscriptions', 'plan_id', 'p.plan_id')} used on true
    where p.shop_id = ${shopId} order by p.plan_id`;
}
