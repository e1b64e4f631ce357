/** What has an id of its own: records, and customers. */
export const recordKinds = [
  'plan',
  'subscription',
  'customer',
  'payment',
  'refund',
  'cancellation',
] as const;
export type RecordKind = (typeof recordKinds)[number];

interface Table {
  readonly table: string;
  readonly idColumn: string;
}

const tables: Readonly<Record<RecordKind, Table>> = {
  plan: { table: 'plans', idColumn: 'plan_id' },
  subscription: { table: 'subscriptions', idColumn: 'subscription_id' },
  customer: { table: 'customers', idColumn: 'customer_id' },
  payment: { table: 'payments', idColumn: 'payment_id' },
  refund: { table: 'refunds', idColumn: 'refund_id' },
  cancellation: { table: 'cancellation_sessions', idColumn: 'session_id' },
};

export function tableOf(kind: RecordKind): Table {
  return tables[kind];
}
