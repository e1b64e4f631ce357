import type { Query } from './connections/query.ts';
import type { Sql, Transaction } from './database.ts';

/*
 * Tables in `from` whose rows are found by one index, whatever the planner's statistics say: the one that begins with
 * the shop and the column, because only that has the order asked for (docs/decisions/0005-plans-and-statements.md).
 */

type Part = Query<Record<string, unknown>[]>;

const of = (sql: Sql | Transaction, value: number | string): number | Part =>
  typeof value === 'number' ? value : sql.id(value);

/** A range, although it has one value: with an equality PostgreSQL would drop the order, and take any index. */
const rowsOf =
  (end: 'limit 1' | 'offset 0') =>
  (
    sql: Sql | Transaction,
    shopId: number | string,
    table: string,
    column: string,
    id: number | string,
  ): Part => {
    const [shop, by, is] = [of(sql, shopId), sql.id(column), of(sql, id)];
    return sql`lateral (select * from ${sql.id(table)} where shop_id = ${shop} and ${by} between ${is} and ${is} order by ${by} ${sql.unsafe(end)})`;
  };

/**
 * The one row that a column identifies.
 * @param shopId a number, or the name of a column of the tables before it; so is `id`
 */
export const lookup = rowsOf('limit 1');

/** Each of the rows that belong to something, such as the payments of a subscription. */
export const each = rowsOf('offset 0');
