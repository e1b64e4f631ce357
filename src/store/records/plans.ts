import type { DiscountType, IntervalUnit, PlanType } from '../../vocabulary.ts';
import type { Sql, Transaction } from '../database.ts';
import {
  type JsonRows,
  boolean,
  decimal,
  integer,
  object,
  jsonRowsOf,
  text,
  enumValue,
} from './json-text.ts';
import {
  type Incoming,
  type Judged,
  type Stored,
  isAnyReplaced,
  isWritten,
  judge,
} from './verdict.ts';
import { insertRows } from './writing.ts';

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

/** Amounts are decimals. */
export interface NewPlan extends Incoming {
  readonly name: string;
  readonly groupName: string;
  readonly planType: PlanType;
  readonly intervalUnit: IntervalUnit;
  readonly intervalCount: number;
  readonly active: boolean;
  readonly productCount: number;
  readonly discountType: DiscountType;
  readonly discountValue: string;
  readonly summary: string;
  /** What of a stored plan stays: all of it, or its type if it is a membership. */
  readonly keeps?: 'plan' | 'membership' | undefined;
}

/** @param plans with different ids */
export async function upsertPlans(
  tx: Transaction,
  shopId: number,
  plans: readonly NewPlan[],
): Promise<Judged[]> {
  const compared = await judge<NewPlan, Stored & { planType: PlanType }>(tx, shopId, plans, {
    kind: 'plan',
    columns: 's.plan_type as "planType"',
  });
  const judged = compared.map((each) =>
    each.before && each.row.keeps === 'plan' ? { ...each, verdict: 'unchanged' as const } : each,
  );
  const rows = judged
    .filter(isWritten)
    .map(({ row, before }) =>
      before && before.planType === row.keeps ? { ...row, planType: before.planType } : row,
    );
  if (rows.length === 0) return judged;
  const columns = {
    id: 'plan_id bigint',
    name: 'name text',
    groupName: 'group_name text',
    planType: 'plan_type text',
    intervalUnit: 'interval_unit text',
    intervalCount: 'interval_count int',
    active: 'active boolean',
    productCount: 'product_count int',
    discountType: 'discount_type text',
    discountValue: 'discount_value numeric',
    summary: 'pricing_summary text',
    updatedAt: 'updated_at timestamptz',
    digest: 'digest uuid',
  };
  await insertRows(
    tx,
    shopId,
    { table: 'plans', columns, replacing: isAnyReplaced(judged) ? 'plan_id' : undefined },
    rows,
  );
  return judged;
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
