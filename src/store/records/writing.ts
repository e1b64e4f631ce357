import { type PlanRow, type Row, recordColumns } from '../../records/columns.ts';
import type { PaymentStatus, SessionOutcome } from '../../vocabulary.ts';
import { type RecordType, parents, records } from '../../records/records.ts';
import { type Transaction, type Sql, arrayText } from '../database.ts';
import { lookup } from '../lookup.ts';
import {
  type ExportedRecord,
  findSnapshotDate,
  listExported,
  findMissing,
} from './export-dates.ts';
import type { Query } from '../connections/query.ts';
import { findShop } from '../shops.ts';
import { type Columns, unnest } from '../arrays.ts';

/**
 * The result for one incoming record: it was new, replaced the stored record, equalled it, or was older; or
 * it waits, because a record that it needs is missing (or one that blocks its deletion still exists), which
 * a later record of the same run may change.
 */
export type Verdict = 'stored' | 'replaced' | 'unchanged' | 'stale' | 'waiting';

export interface Judged {
  readonly id: number;
  readonly verdict: Verdict;
}

/** Whether the record was stored. */
export function isWritten(judged: Judged): boolean {
  return judged.verdict === 'stored' || judged.verdict === 'replaced';
}

/** A record to be stored. */
export type Incoming = Pick<Row<RecordType>, 'id' | 'updatedAt' | 'exportedAt' | 'digest'>;

/** The stored record with the same id. */
export interface Stored {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number | null;
  readonly digest: string;
}

export interface JudgedRow<NewRow extends Incoming, Before extends Stored> extends Judged {
  readonly row: NewRow;
  readonly before: Before | undefined;
  /** What exports showed of it, if the row is from one. */
  readonly exported: ExportedRecord | undefined;
}

interface Comparison {
  /** Records of the parent's type that need not be looked up: they are stored, or will be within the transaction. */
  readonly known?: ReadonlySet<number> | undefined;
  /** Further columns of the stored record `s`, as SQL. */
  readonly columns?: string;
}

/**
 * Compares records with what is stored. It stays true while the transaction is the shop's only writer. A record
 * waits if its parent is not stored.
 * @param rows with different ids
 */
export async function judge<NewRow extends Incoming, Before extends Stored = Stored>(
  tx: Transaction,
  shopId: number,
  type: RecordType,
  rows: readonly NewRow[],
  { known = new Set(), columns = 'true as is_stored' }: Comparison = {},
): Promise<JudgedRow<NewRow, Before>[]> {
  const ids = rows.map(({ id }) => id);
  const parent = parents[type];
  const parentOf = (row: NewRow) =>
    parent ? ((row as Readonly<Record<string, unknown>>)[parent.field] as number | null) : null;
  const parentIds = new Set(rows.map(parentOf).filter((id) => id !== null)).difference(known);
  const isExport = rows.some(({ exportedAt }) => exportedAt !== undefined);
  const [stored, exported, snapshotDate, missing] = await Promise.all([
    findStored<Before>(tx, shopId, type, ids, columns),
    isExport ? listExported(tx, shopId, type, ids) : new Map<number, ExportedRecord>(),
    isExport ? findSnapshotDate(tx, shopId, type) : undefined,
    parent ? findMissing(tx, shopId, parent.type, [...parentIds]) : new Set<number | null>(),
  ]);
  return rows.map((row) => {
    const before = stored.get(row.id);
    // A complete export that is newer did not have what is not stored.
    const exportDate = before ? exported.get(row.id)?.exportedAt : snapshotDate;
    const isStale = (before && isOlder(row, before)) || isOlderExport(row, before, exportDate);
    const verdict = isStale ? 'stale' : verdictOf(row, before, !missing.has(parentOf(row)));
    return { id: row.id, verdict, row, before, exported: exported.get(row.id) };
  });
}

function verdictOf(row: Incoming, before: Stored | undefined, isComplete: boolean): Verdict {
  if (before?.digest === row.digest) return 'unchanged';
  if (!isComplete) return 'waiting';
  return before ? 'replaced' : 'stored';
}

function isOlder({ updatedAt }: Incoming, before: Stored): boolean {
  if (updatedAt === null || before.updatedAt === null) return false;
  return updatedAt < before.updatedAt;
}

/** Whether an export was made before what is stored was known. */
function isOlderExport(
  { exportedAt, updatedAt }: Incoming,
  before: Stored | undefined,
  storedExport: number | undefined,
): boolean {
  if (exportedAt === undefined) return false;
  const known = Math.max(exportedAt, updatedAt ?? 0);
  return known < Math.max(storedExport ?? 0, before?.updatedAt ?? 0);
}

async function findStored<Before extends Stored>(
  tx: Transaction,
  shopId: number,
  type: RecordType,
  ids: readonly number[],
  columns: string,
): Promise<ReadonlyMap<number, Before>> {
  const { table, idColumn } = records[type];
  const rows = await tx<Before[]>`
    select requested.id, (extract(epoch from s.updated_at) * 1000)::bigint as "updatedAt",
      translate(s.digest::text, '-', '') as digest, ${tx.unsafe(columns)}
    from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
    cross join ${lookup(tx, shopId, table, idColumn, 'requested.id')} s`;
  return new Map(rows.map((row) => [row.id, row]));
}

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
 * @returns false if there is no such shop, or it is being deleted
 */
export async function lockForWriting(tx: Transaction, shopId: number): Promise<boolean> {
  const shop = await findShop(tx, shopId);
  if (!shop || shop.deletingSince) return false;
  const [, [stillThere]] = await Promise.all([
    tx`select lock_shop(${shopId})`,
    // As a foreign key would, which a cluster does not have. Waits for a deletion that has released the lock before.
    tx`select from shops where shop_id = ${shopId} for key share`,
  ]);
  if (!stillThere) throw new Error(`Shop ${shopId} was deleted meanwhile.`);
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
interface Target<NewRow> {
  readonly table: string;
  /** For each field the column that it is stored in, with its type, such as `plan_id bigint`. */
  readonly columns: Columns<NewRow>;
  /** The column by which rows replace stored ones. Without it, all rows must be new. */
  readonly replacing?: string | undefined;
}

/**
 * Inserts rows of a shop. The insert begins with the shop's own row of a table that is distributed by shop, so
 * that a cluster sends the whole insert to where the shop is stored.
 */
export function insertRows<NewRow extends object>(
  tx: Transaction,
  shopId: number,
  { table, columns, replacing }: Target<NewRow>,
  rows: readonly NewRow[],
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
  const source = unnest(tx, 'r', Object.fromEntries(types) as Columns<NewRow>, rows);
  return tx`
    ${target} select shop.shop_id, r.* from metric_shops shop cross join ${source}
    where shop.shop_id = ${shopId} ${tx.unsafe(conflict)}`;
}

/** The types of records whose rows need nothing else. */
interface RowOf {
  readonly plan: PlanRow;
  readonly payment: Row<'payment'>;
  readonly refund: Row<'refund'>;
  readonly cancellation: Row<'cancellation'>;
}

/** What is read of a stored record, beside what it is judged by. */
interface BeforeOf {
  readonly plan: Pick<PlanRow, 'planType' | 'intervalUnit' | 'intervalCount'>;
  readonly payment: { readonly amount: string; readonly status: PaymentStatus };
  readonly refund: { readonly amount: string };
  readonly cancellation: { readonly outcome: SessionOutcome | null; readonly createdAt: Date };
}

interface Upsert<NewRow, Old> {
  /** SQL for the columns of `BeforeOf`. */
  readonly columns: string;
  /** The row with what stays of the stored one, because the feed does not know it; undefined if all of it stays. */
  preserve(row: NewRow, before: Old): NewRow | undefined;
}

const upserts: { readonly [Type in keyof RowOf]: Upsert<RowOf[Type], BeforeOf[Type]> } = {
  plan: {
    columns: `s.plan_type as "planType", s.interval_unit as "intervalUnit", s.interval_count as "intervalCount"`,
    preserve(row, { planType }) {
      if (row.preserve === 'plan') return undefined;
      return planType === row.preserve ? { ...row, planType } : row;
    },
  },
  payment: {
    columns: 's.amount, s.status',
    preserve(row, { amount, status }) {
      if (row.preserve !== 'amount') return row;
      // A payment that was found to be none, such as a test, stays none when its amount is unknown.
      const isVoid = status === 'pending' && Number(amount) === 0;
      return { ...row, amount, ...(isVoid && { status }) };
    },
  },
  refund: {
    columns: 's.amount',
    preserve: (row, { amount }) => (row.preserve === 'amount' ? { ...row, amount } : row),
  },
  cancellation: {
    columns: 's.outcome, s.created_at as "createdAt"',
    preserve: (row, { createdAt }) =>
      row.preserve === 'createdAt' ? { ...row, createdAt: createdAt.getTime() } : row,
  },
};

/**
 * Stores the records that are new or different. One waits if its parent is not stored.
 * @param rows with different ids
 * @param known parents that need not be looked up: they are stored, or will be within the transaction
 */
export async function upsertRecords<Type extends keyof RowOf>(
  tx: Transaction,
  shopId: number,
  type: Type,
  rows: readonly RowOf[Type][],
  known?: ReadonlySet<number>,
): Promise<JudgedRow<RowOf[Type], Stored & BeforeOf[Type]>[]> {
  const { columns, preserve } = upserts[type];
  const compared = await judge<RowOf[Type], Stored & BeforeOf[Type]>(tx, shopId, type, rows, {
    columns,
    known,
  });
  const judged = compared.map((one) => {
    const row = one.before ? preserve(one.row, one.before) : one.row;
    if (row === one.row) return one;
    return row ? { ...one, row } : { ...one, verdict: 'unchanged' as const };
  });
  const written = judged.filter(isWritten);
  if (written.length > 0) {
    const { table, idColumn } = records[type];
    const replacing = written.some(({ before }) => before) ? idColumn : undefined;
    const target = { table, columns: recordColumns(type) as Columns<RowOf[Type]>, replacing };
    await insertRows(
      tx,
      shopId,
      target,
      written.map(({ row }) => row),
    );
  }
  return judged;
}
