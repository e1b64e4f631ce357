import type { Query, Value } from '../connections/query.ts';
import type { Sql, Transaction } from '../database.ts';

/** Position of a page's last row in the order. Times are epoch milliseconds. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

/** The query parameters for a position; the first page starts before every row. */
export function startOf(
  after: Position | undefined,
  order: TimeOrder = 'newest',
): { at: string; id: number } {
  if (after) return { at: new Date(after.createdAt).toISOString(), id: after.id };
  return order === 'oldest'
    ? { at: '-infinity', id: 0 }
    : { at: 'infinity', id: Number.MAX_SAFE_INTEGER };
}

/** Whether a list by time begins with the newest row or the oldest. */
export type TimeOrder = 'newest' | 'oldest';

/** The words of a statement for an order: what compares a row with the last one of the page before, and how to sort. */
export function orderOf(sql: Sql | Transaction, order: TimeOrder = 'newest') {
  return order === 'oldest'
    ? { than: sql`>`, thanOrAt: sql`>=`, untilAt: sql`<=`, by: sql`asc` }
    : { than: sql`<`, thanOrAt: sql`<=`, untilAt: sql`>=`, by: sql`desc` };
}

/**
 * An order by some columns, all in one direction, as parts of a statement.
 * @param after the values of the last row of the page before; undefined for the first page
 * @returns `beyond`, a condition that holds for the rows after it, and `by`, the order, of an alias if one is given
 */
export function keyset<Column extends string>(
  sql: Sql | Transaction,
  order: TimeOrder,
  columns: readonly Column[],
  after?: Readonly<Record<Column, Value>>,
) {
  const { than, by } = orderOf(sql, order);
  const list = (parts: readonly Query<Record<string, unknown>[]>[]) =>
    parts.reduce((all, each) => sql`${all}, ${each}`);
  const names = (alias?: string) =>
    columns.map((column) => sql.unsafe(alias === undefined ? column : `${alias}.${column}`));
  const place = after && list(columns.map((column) => sql`${after[column]}`));
  return {
    beyond: place ? sql`(${list(names())}) ${than} (${place})` : sql`true`,
    by: (alias?: string) => list(names(alias).map((name) => sql`${name} ${by}`)),
  };
}

export interface Paging {
  /** The newest first, if it is left out. */
  readonly order?: TimeOrder | undefined;
  readonly after: Position | undefined;
  readonly limit: number;
}

/**
 * The end of a listing's statement, by created_at, then id, both in one direction. With a filter, a page
 * starts at its place in the index that begins with the filter (docs/decisions/0005-plans-and-statements.md).
 * @param filter a column, and the only value that it may have; undefined for any
 */
export function byCreation(
  sql: Sql | Transaction,
  idColumn: string,
  [filter, value]: readonly [column: string, value: string | undefined],
  { order, after, limit }: Paging,
): Query<Record<string, unknown>[]> {
  const { at, id } = startOf(after, order);
  const { than, untilAt, by } = orderOf(sql, order);
  const [column, only] = [sql.unsafe(idColumn), sql.unsafe(filter)];
  return value === undefined
    ? sql`and (created_at, ${column}) ${than} (${at}, ${id})
        order by created_at ${by}, ${column} ${by} limit ${limit}`
    : sql`and ${only} ${untilAt} ${value} and (${only}, created_at, ${column}) ${than} (${value}, ${at}, ${id})
        order by ${only} ${by}, created_at ${by}, ${column} ${by} limit ${limit}`;
}
