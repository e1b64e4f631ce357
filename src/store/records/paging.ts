import type { Query } from '../connections/query.ts';
import type { Sql, Transaction } from '../database.ts';

/** Position of a page's last row in the order. Times are epoch milliseconds. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

/** The query parameters for a position; the first page starts before every row. */
export function startOf(after: Position | undefined): { at: string; id: number } {
  return after
    ? { at: new Date(after.createdAt).toISOString(), id: after.id }
    : { at: 'infinity', id: Number.MAX_SAFE_INTEGER };
}

export interface Paging {
  readonly after: Position | undefined;
  readonly limit: number;
}

/**
 * The end of a listing's statement, newest first: created_at, then id, both descending. With a filter, a page
 * starts at its place in the index that begins with the filter (docs/decisions/0032-plans.md).
 * @param filter a column, and the only value that it may have; undefined for any
 */
export function newestFirst(
  sql: Sql | Transaction,
  idColumn: string,
  [filter, value]: readonly [column: string, value: string | undefined],
  { after, limit }: Paging,
): Query<Record<string, unknown>[]> {
  const { at, id } = startOf(after);
  const [column, only] = [sql.unsafe(idColumn), sql.unsafe(filter)];
  return value === undefined
    ? sql`and (created_at, ${column}) < (${at}, ${id})
        order by created_at desc, ${column} desc limit ${limit}`
    : sql`and ${only} >= ${value} and (${only}, created_at, ${column}) < (${value}, ${at}, ${id})
        order by ${only} desc, created_at desc, ${column} desc limit ${limit}`;
}
