import { recordColumns } from '../../records/columns.ts';
import { type RecordType, records } from '../../records/records.ts';
import type { Query } from '../connections/query.ts';
import type { Sql, Transaction } from '../database.ts';
import { findShop } from '../shops.ts';
import { type Columns, unnest } from '../unnest.ts';
import { type Incoming, type JudgedRow, type Stored, isWritten } from './verdict.ts';

const maxAttempts = 5;

/** Runs work in a transaction, and again if another transaction got in its way. */
export async function beginWithRetries<Result>(
  sql: Sql,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sql.begin(work);
    } catch (error) {
      if (attempt === maxAttempts || !isConflict(error)) throw error;
    }
  }
}

/** A deadlock or a serialization failure, after which the transaction can be retried. */
function isConflict(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

/**
 * Makes this transaction the shop's only writer until it ends, so that what it has read of the shop stays
 * true. The triggers do the same at the first change.
 * @returns false if there is no such shop
 */
export async function lockForWriting(tx: Transaction, shopId: number): Promise<boolean> {
  if (!(await findShop(tx, shopId))) return false;
  await tx`select lock_shop(${shopId})`;
  return true;
}

/**
 * Lets the next transaction plan its statements again, now that tables have grown; on a cluster, also the
 * triggers and foreign keys of a node, whose plans last as long as the connection to it.
 */
export async function planAgain(tx: Transaction): Promise<void> {
  await tx.script('discard plans; set local citus.max_cached_conns_per_worker = 0');
}

/** Where rows are inserted. */
interface Target<Row> {
  readonly table: string;
  /** For each field the column that it is stored in, with its type, such as `plan_id bigint`. */
  readonly columns: Columns<Row>;
  /** The column by which rows replace stored ones. Without it, all rows must be new. */
  readonly replacing?: string | undefined;
}

/**
 * Inserts rows of a shop. The insert begins with the shop's own row of a table that is distributed by shop, so
 * that a cluster sends the whole insert to where the shop is stored.
 */
export function insertRows<Row extends object>(
  tx: Transaction,
  shopId: number,
  { table, columns, replacing }: Target<Row>,
  rows: readonly Row[],
): Query<Record<string, unknown>[]> {
  const definitions = Object.values<string>(columns as Record<string, string>);
  const names = definitions.map((definition) => definition.slice(0, definition.indexOf(' ')));
  const types = Object.entries<string>(columns as Record<string, string>).map(
    ([field, definition]) => [field, definition.slice(definition.indexOf(' ') + 1)],
  );
  // Looking for a stored row costs about as much as inserting into an index.
  const conflict =
    replacing === undefined
      ? ''
      : `on conflict (shop_id, ${replacing}) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  const target = tx.unsafe(`insert into ${table} (shop_id, ${names.join(', ')})`);
  const source = unnest(tx, 'r', Object.fromEntries(types) as Columns<Row>, rows);
  return tx`
    ${target} select shop.shop_id, r.* from metric_shops shop cross join ${source}
    where shop.shop_id = ${shopId} ${tx.unsafe(conflict)}`;
}

/**
 * Writes the records that are new or different.
 * @param keep what of a stored record stays
 */
export async function writeJudged<NewRow extends Incoming, Before extends Stored>(
  tx: Transaction,
  shopId: number,
  type: RecordType,
  judged: readonly JudgedRow<NewRow, Before>[],
  keep: (row: NewRow, before: Before) => NewRow,
): Promise<void> {
  const written = judged.filter(isWritten);
  if (written.length === 0) return;
  const { table, idColumn } = records[type];
  const replacing = written.some(({ before }) => before) ? idColumn : undefined;
  const rows = written.map(({ row, before }) => (before ? keep(row, before) : row));
  await insertRows(
    tx,
    shopId,
    { table, columns: recordColumns(type) as Columns<NewRow>, replacing },
    rows,
  );
}
