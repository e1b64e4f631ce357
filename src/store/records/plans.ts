import type { Sql, Transaction } from '../database.ts';
import {
  type JsonLines,
  boolean,
  decimal,
  integer,
  object,
  linesOf,
  text,
  enumValue,
} from './json-text.ts';
import type { Judged } from './verdict.ts';

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

export function listPlans(sql: Sql, shopId: number): Promise<JsonLines> {
  return linesOf(
    sql,
    sql`
    select ${sql.unsafe(plan)} as json from plans where shop_id = ${shopId} order by plan_id`,
  );
}

/** @param records a JSON array of plan rows from `ingest`; ids must be unique */
export function upsertPlans(tx: Transaction, shopId: number, records: string): Promise<Judged[]> {
  return tx<Judged[]>`
    with incoming as materialized (
      select * from json_to_recordset(${records}::text::json) as r(
        id bigint, name text, "groupName" text, "planType" text, "intervalUnit" text,
        "intervalCount" int, active boolean, "productCount" int, "discountType" text,
        "discountValue" numeric, summary text, "updatedAt" timestamptz, keeps text, digest uuid)
    ),
    judged as materialized (
      select i.*, s.plan_type as "previousType", case
          when s.plan_id is null then 'stored'
          when i.keeps = 'plan' then 'unchanged'
          when i."updatedAt" < s.updated_at then 'stale'
          when i.digest = s.digest then 'unchanged'
          else 'replaced'
        end as verdict
      from incoming i
      left join lateral (
        select * from plans where shop_id = ${shopId} and plan_id = i.id limit 1
      ) s on true
    ),
    written as (
      insert into plans (shop_id, plan_id, name, group_name, plan_type, interval_unit,
        interval_count, active, product_count, discount_type, discount_value, pricing_summary,
        updated_at, digest)
      select ${shopId}, id, name, "groupName",
        case when keeps = "previousType" then "previousType" else "planType" end,
        "intervalUnit", "intervalCount", active, "productCount", "discountType", "discountValue", summary, "updatedAt", digest
      from judged where verdict in ('stored', 'replaced')
      on conflict (shop_id, plan_id) do update set
        name = excluded.name, group_name = excluded.group_name, plan_type = excluded.plan_type,
        interval_unit = excluded.interval_unit, interval_count = excluded.interval_count,
        active = excluded.active, product_count = excluded.product_count,
        discount_type = excluded.discount_type, discount_value = excluded.discount_value,
        pricing_summary = excluded.pricing_summary, updated_at = excluded.updated_at,
        digest = excluded.digest
    )
    select id, verdict from judged`;
}
