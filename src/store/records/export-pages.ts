import { selectFields, selectList } from '../../records/columns.ts';
import type { Fields } from '../../records/fields.ts';
import { type RecordType, namedFields, records } from '../../records/records.ts';
import type { Sql, Transaction } from '../database.ts';

type Row = Record<string, unknown>;

/** A stored record, as its fields; those that it does not have are left out. */
export interface StoredFields {
  readonly id: number;
  readonly values: Readonly<Row>;
  /** Of a subscription: since when its status is what it is is not known. */
  readonly isUndated: boolean;
}

/** Few enough to fit in memory whatever they hold. */
const recordsPerPage = 1_000;

/** One page of the records of a type, by ascending id. All that is stored of them follows from the catalogue. */
export async function listExportPage(
  sql: Sql | Transaction,
  shopId: number,
  type: RecordType,
  after: number,
): Promise<StoredFields[]> {
  const { table, idColumn, fields } = records[type];
  const isUndated = type === 'subscription' ? 'status_since is null' : 'false';
  const rows = await sql<(Row & { id: number; isUndated: boolean })[]>`
    select ${sql.unsafe(selectList(type, 't'))}, ${sql.unsafe(isUndated)} as "isUndated"
    from ${sql.id(table)} t where shop_id = ${shopId} and ${sql.id(idColumn)} > ${after}
    order by ${sql.id(idColumn)} limit ${recordsPerPage}`;
  const [first, last] = [rows[0]?.id ?? 0, rows.at(-1)?.id ?? 0];
  const lists = new Map<string, Map<number, Row[]>>();
  for (const [name, field] of namedFields(type)) {
    if (field.kind !== 'list' || field.table === undefined || rows.length === 0) continue;
    const entries = await sql<(Row & { of: number; position: number })[]>`
      select ${sql.id(idColumn)} as of, position, ${sql.unsafe(selectFields(field.fields, 't'))}
      from ${sql.id(field.table)} t
      where shop_id = ${shopId} and ${sql.id(idColumn)} between ${first} and ${last}
      order by ${sql.id(idColumn)}`;
    const ordered = entries.toSorted((a, b) => a.of - b.of || a.position - b.position);
    const groups = Map.groupBy(ordered, (entry) => entry.of);
    const shaped = [...groups].map(
      ([id, group]) => [id, group.map((each) => valuesOf(field.fields, each))] as const,
    );
    lists.set(name, new Map(shaped));
  }
  return rows.map((row) => {
    const entries = [...lists].map(([name, byId]) => [name, byId.get(row.id)] as const);
    const values = valuesOf(fields, { ...row, ...Object.fromEntries(entries) });
    return { id: row.id, isUndated: row.isUndated, values };
  });
}

function valuesOf(fields: Fields, row: Row): Row {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = field.kind === 'part' ? valuesOf(field.fields, row) : row[name];
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

/** From when on it is known what subscriptions of a shop were worth; undefined if it never had any. */
export async function findValuesSince(
  sql: Sql | Transaction,
  shopId: number,
): Promise<Date | undefined> {
  const [found] = await sql<{ since: Date }[]>`
    select values_since as since from metric_shops where shop_id = ${shopId}`;
  return found?.since;
}

/** Sets from when on it is known what subscriptions of a shop were worth, which has none yet. */
export async function setValuesSince(tx: Transaction, shopId: number, at: number): Promise<void> {
  await tx`update metric_shops set values_since = ${new Date(at)} where shop_id = ${shopId}`;
}

export async function hasCustomers(tx: Transaction, shopId: number): Promise<boolean> {
  const found = await tx`
    select customer_id from customers where shop_id = ${shopId} order by customer_id limit 1`;
  return found.length > 0;
}
