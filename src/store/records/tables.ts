import { records } from '../../records/records.ts';
import { type Sql, type Transaction, arrayText } from '../database.ts';

interface Table {
  readonly table: string;
  readonly idColumn: string;
}

const { plan, subscription, payment, refund, cancellation } = records;
const customer: Table = { table: 'customers', idColumn: 'customer_id' };
/** What has an id of its own: records, and customers. */
const tables = { plan, subscription, customer, payment, refund, cancellation };

export type RecordKind = keyof typeof tables;
export const recordKinds = Object.keys(tables) as readonly RecordKind[];

export function tableOf(kind: RecordKind): Table {
  return tables[kind];
}

/** Those of the ids that no stored record has. */
export async function findMissing(
  sql: Sql | Transaction,
  shopId: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<ReadonlySet<number | null>> {
  if (ids.length === 0) return new Set();
  const { table, idColumn } = tableOf(kind);
  const column = sql.unsafe(idColumn);
  const rows = await sql<{ id: number }[]>`
    select requested.id from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
    left join lateral (
      select true as is_stored from ${sql.unsafe(table)}
      where shop_id = ${shopId} and ${column} between requested.id and requested.id
      order by ${column} limit 1
    ) s on true
    where s.is_stored is null`;
  return new Set(rows.map(({ id }) => id));
}
