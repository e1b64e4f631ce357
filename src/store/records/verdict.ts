import type { Row } from '../../records/columns.ts';
import { type RecordType, parents, records } from '../../records/records.ts';
import { type Transaction, arrayText } from '../database.ts';
import { findSnapshotDate, listExportDates } from './export-dates.ts';
import { findMissing } from './tables.ts';

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
}

interface Comparison {
  /** Records of the parent's type that need not be looked up: they are stored, or will be within the transaction. */
  readonly known?: ReadonlySet<number>;
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
  const [stored, exportDates, snapshotDate, missing] = await Promise.all([
    findStored<Before>(tx, shopId, type, ids, columns),
    isExport ? listExportDates(tx, shopId, type, ids) : new Map<number, number>(),
    isExport ? findSnapshotDate(tx, shopId, type) : undefined,
    parent ? findMissing(tx, shopId, parent.type, [...parentIds]) : new Set<number | null>(),
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
  type: RecordType,
  ids: readonly number[],
  columns: string,
): Promise<ReadonlyMap<number, Before>> {
  const { table, idColumn } = records[type];
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
