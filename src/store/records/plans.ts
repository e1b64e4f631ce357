import { lookup } from '../lookup.ts';
import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';
import {
  type JsonRows,
  boolean,
  decimal,
  integer,
  object,
  jsonRowsOf,
  text,
  enumValue,
} from './listing.ts';

const plan = object({
  id: integer('plan_id'),
  name: text('name'),
  groupName: text('group_name'),
  intervalUnit: enumValue('interval_unit'),
  intervalCount: integer('interval_count'),
  active: boolean('active'),
  productCount: integer('product_count'),
  pricing: object({
    discountType: enumValue('discount_type'),
    discountValue: decimal('discount_value'),
    summary: text('pricing_summary'),
  }),
});

export function listPlans(sql: Sql, shopId: number): Promise<JsonRows> {
  return jsonRowsOf(
    sql,
    sql`
    select ${sql.unsafe(plan)} as json from plans where shop_id = ${shopId} order by plan_id`,
  );
}

/** The billing intervals of those of the plans that are stored, such as `month 1`. */
export async function listPlanIntervals(
  tx: Sql | Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx<{ id: number; billed: string }[]>`
    select i.id, p.interval_unit || ' ' || p.interval_count as billed
    from unnest(${arrayText([...new Set(ids)])}::text::bigint[]) i (id)
    cross join ${lookup(tx, shopId, 'plans', 'plan_id', 'i.id')} p`;
  return new Map(rows.map(({ id, billed }) => [id, billed]));
}

export async function hasPlan(sql: Sql, shopId: number, planId: number): Promise<boolean> {
  const rows = await sql`select from plans where shop_id = ${shopId} and plan_id = ${planId}`;
  return rows.length > 0;
}

/** The names of a shop's plans by id, in the order of their names. */
export async function listPlanNames(
  sql: Sql,
  shopId: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; name: string }[]>`
    select plan_id as id, name from plans where shop_id = ${shopId} order by plan_id`;
  const named = rows.toSorted((a, b) => a.name.localeCompare(b.name, 'en') || a.id - b.id);
  return new Map(named.map(({ id, name }) => [id, name]));
}

export interface Product {
  readonly productId: number;
  readonly title: string;
}

/** The products of a shop's subscriptions, by id. Reads one line of each. */
export function listProducts(sql: Sql, shopId: number, limit: number): Promise<Product[]> {
  return withTimeout(sql<Product[]>`
    with recursive products as (
      (
        select product_id, product_title from subscription_lines
        where shop_id = ${shopId} order by product_id limit 1
      )
      union all
      select next.product_id, next.product_title
      from products p
      cross join lateral (
        select product_id, product_title from subscription_lines
        where shop_id = ${shopId} and product_id > p.product_id
        order by product_id limit 1
      ) next
    )
    select product_id as "productId", product_title as title from products limit ${limit}`);
}
