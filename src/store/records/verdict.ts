import { type Transaction, arrayText } from '../database.ts';
import { findSnapshotDate, listExportDates } from './export-dates.ts';
import { type RecordKind, findMissing, tableOf } from './tables.ts';

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

/** Whether any record replaces a stored one. */
export function isAnyReplaced(judged: readonly Judged[]): boolean {
  return judged.some(({ verdict }) => verdict === 'replaced');
}

/** A record to be stored. */
export interface Incoming {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number | null;
  /** When the export that has the record was made, in epoch milliseconds, if that is known. */
  readonly exportedAt?: number | undefined;
  /** 32 hexadecimal digits; two records with the same digest are the same record. */
  readonly digest: string;
}

/** The stored record with the same id. */
export interface Stored {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number | null;
  readonly digest: string;
}

interface JudgedRow<Row extends Incoming, Before extends Stored> extends Judged {
  readonly row: Row;
  readonly before: Before | undefined;
}

interface Comparison<Row extends Incoming> {
  readonly kind: RecordKind;
  /** The record that each needs; null if one needs none. */
  readonly parent?: {
    readonly kind: RecordKind;
    idOf(row: Row): number | null;
    /** Need not be looked up: they are stored, or will be within the transaction. */
    readonly known?: ReadonlySet<number>;
  };
  /** Further columns of the stored record `s`, as SQL. */
  readonly columns?: string;
}

/**
 * Compares records with what is stored. It stays true while the transaction is the shop's only writer.
 * @param rows with different ids
 */
export async function judge<Row extends Incoming, Before extends Stored = Stored>(
  tx: Transaction,
  shopId: number,
  rows: readonly Row[],
  { kind, parent, columns = 'true as is_stored' }: Comparison<Row>,
): Promise<JudgedRow<Row, Before>[]> {
  const ids = rows.map(({ id }) => id);
  const parentOf = (row: Row) => parent?.idOf(row) ?? null;
  const parentIds = new Set(rows.map(parentOf).filter((id) => id !== null)).difference(
    parent?.known ?? new Set<number>(),
  );
  const isExport = rows.some(({ exportedAt }) => exportedAt !== undefined);
  const [stored, exportDates, snapshotDate, missing] = await Promise.all([
    findStored<Before>(tx, shopId, kind, ids, columns),
    isExport ? listExportDates(tx, shopId, kind, ids) : new Map<number, number>(),
    isExport ? findSnapshotDate(tx, shopId, kind) : undefined,
    parent ? findMissing(tx, shopId, parent.kind, [...parentIds]) : new Set<number | null>(),
  ]);
  return rows.map((row) => {
    const before = stored.get(row.id);
    // A complete export that is newer did not have what is not stored.
    const exportDate = before ? exportDates.get(row.id) : snapshotDate;
    const isStale = (before && isOlder(row, before)) || isOlderExport(row, before, exportDate);
    const verdict = isStale ? 'stale' : verdictOf(row, before, !missing.has(parentOf(row)));
    return { id: row.id, verdict, row, before };
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
  kind: RecordKind,
  ids: readonly number[],
  columns: string,
): Promise<ReadonlyMap<number, Before>> {
  const { table, idColumn } = tableOf(kind);
  const column = tx.unsafe(idColumn);
  const rows = await tx<Before[]>`
    select requested.id, (extract(epoch from s.updated_at) * 1000)::bigint as "updatedAt",
      translate(s.digest::text, '-', '') as digest, ${tx.unsafe(columns)}
    from unnest(${arrayText(ids)}::text::bigint[]) requested (id)
    cross join lateral (
      select * from ${tx.unsafe(table)}
      where shop_id = ${shopId} and ${column} between requested.id and requested.id
      order by ${column} limit 1
    ) s`;
  return new Map(rows.map((row) => [row.id, row]));
}
