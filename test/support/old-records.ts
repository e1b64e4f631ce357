import { FixedClock } from '../../src/clock.ts';
import { type RecordOf, recordSchema, parseRecord } from '../../src/records/records.ts';
import { paymentRow, planRow, refundRow, subscriptionRows } from '../../src/ingest/rows.ts';
import type { Sql } from '../../src/store/database.ts';
import { type TestShop, now } from './world.ts';

/** A table's columns in the first schema, and where each comes from. */
type Columns = Readonly<Record<string, string>>;

const audited = { updated_at: '"updatedAt" timestamptz', digest: 'digest uuid' };
const tables: Readonly<Record<string, Columns>> = {
  plans: {
    plan_id: 'id bigint',
    name: 'name text',
    group_name: '"groupName" text',
    plan_type: '"planType" text',
    interval_unit: '"intervalUnit" text',
    interval_count: '"intervalCount" int',
    active: 'active boolean',
    product_count: '"productCount" int',
    discount_type: '"discountType" text',
    discount_value: '"discountValue" numeric',
    pricing_summary: 'summary text',
    ...audited,
  },
  customers: { customer_id: 'id bigint' },
  subscriptions: {
    subscription_id: 'id bigint',
    customer_id: '"customerId" bigint',
    plan_id: '"planId" bigint',
    status: 'status text',
    status_since: '"statusSince" timestamptz',
    current_price: '"currentPrice" numeric',
    own_interval_unit: '"intervalUnit" text',
    own_interval_count: '"intervalCount" int',
    next_billing_at: '"nextBillingDate" timestamptz',
    created_at: '"createdAt" timestamptz',
    ...audited,
  },
  status_events: {
    subscription_id: '"subscriptionId" bigint',
    position: 'position smallint',
    at: 'at timestamptz',
    from_status: '"from" text',
    to_status: '"to" text',
  },
  payments: {
    payment_id: 'id bigint',
    subscription_id: '"subscriptionId" bigint',
    cycle: 'cycle text',
    status: 'status text',
    failure_kind: '"failureKind" text',
    amount: 'amount numeric',
    processed_at: '"processedAt" timestamptz',
    ...audited,
  },
  refunds: {
    refund_id: 'id bigint',
    payment_id: '"paymentId" bigint',
    amount: 'amount numeric',
    refunded_at: '"refundedAt" timestamptz',
    ...audited,
  },
};

const timeFields = new Set(
  Object.values(tables)
    .flatMap((columns) => Object.values(columns))
    .filter((definition) => definition.endsWith(' timestamptz'))
    .map((definition) => definition.split(' ')[0]?.replaceAll('"', '')),
);

const withTimes = (field: string, value: unknown) =>
  timeFields.has(field) && typeof value === 'number' ? new Date(value).toISOString() : value;

/** Stores a new shop's records in a schema of an earlier version, which the current import cannot write to. */
export async function storeInOldSchema(
  sql: Sql,
  shop: TestShop,
  records: readonly object[],
): Promise<void> {
  const schema = recordSchema(shop.minorDigits, new FixedClock(now));
  const parsed = records.map((record) => {
    const result = parseRecord(schema, record);
    if ('problem' in result) throw new Error(result.problem);
    return result.record;
  });
  const ofType = <Type extends 'plan' | 'subscription' | 'payment' | 'refund'>(type: Type) =>
    parsed.filter((record): record is RecordOf<Type> => record.type === type);
  const subscriptions = ofType('subscription').map((record) =>
    subscriptionRows(record, Date.parse(now)),
  );
  const customerIds = new Set(subscriptions.map(({ subscription }) => subscription.customerId));
  const rows: Readonly<Record<keyof typeof tables, readonly object[]>> = {
    plans: ofType('plan').map((record) => planRow(record, shop.currency, shop.minorDigits)),
    customers: [...customerIds].map((id) => ({ id })),
    subscriptions: subscriptions.map(({ subscription }) => subscription),
    status_events: subscriptions.flatMap(({ events }) => events),
    payments: ofType('payment').map(paymentRow),
    refunds: ofType('refund').map(refundRow),
  };
  for (const [table, columns] of Object.entries(tables)) {
    await sql.unsafe(
      `insert into ${table} (shop_id, ${Object.keys(columns).join(', ')})
       select $1::bigint, r.* from json_to_recordset($2::text::json) r(${Object.values(columns).join(', ')})`,
      [shop.id, JSON.stringify(rows[table], withTimes)],
    );
  }
}
