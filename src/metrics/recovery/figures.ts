import { shopDigitsOf, roundHalfAway } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import type { Period } from '../bounds.ts';
import { priceDecimals } from '../facts.ts';
import { type Part, type Selection, ofSelection } from '../segments/chosen.ts';

/** How a dunning case ended. */
export const results = ['recovered', 'lost'] as const;
export type Result = (typeof results)[number];

/** Some dunning cases. */
export interface Cases {
  readonly count: number;
  /** What was owed, in units of the sixth decimal place. */
  readonly units: bigint;
}

/** Cases that are owed and have the same failure code. */
export interface OpenCases extends Cases {
  /** Of the last failed payment; null if the source gave none. */
  readonly failureCode: string | null;
}

/** Cases that are alike in all of this. */
export interface ClosedCases extends OpenCases {
  /** The UTC day on which they closed, epoch milliseconds. */
  readonly day: number;
  readonly result: Result;
  /** How many payments have failed in each. */
  readonly attempts: number;
}

type Row<Kind extends Cases> = Omit<Kind, 'units'> & { readonly units: string };

/** The cases that are open at an instant, ISO 8601. Reads as many entries of an index as there are, or close later. */
export const openAt = (sql: Sql | Transaction, shopId: number, at: string): Part => sql`
  select * from (
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at is null and opened_at <= ${at}
    order by closed_at, opened_at offset 0
  ) still_open
  union all
  select * from (${closingAfter(sql, shopId, at)}) closing_later`;

/** Of these, the ones that have closed since, or will. */
export const closingAfter = (sql: Sql | Transaction, shopId: number, at: string): Part => sql`
  select * from dunning_cases
  where shop_id = ${shopId} and closed_at > ${at} and opened_at <= ${at}
  order by closed_at offset 0`;

/**
 * The cases that are open at an instant, by failure code; all of the shop's, or those of a selection.
 * @param at epoch milliseconds
 */
export async function listOutstanding(
  sql: Sql | Transaction,
  shopId: number,
  at: number,
  selection?: Selection,
): Promise<OpenCases[]> {
  const open = openAt(sql, shopId, new Date(at).toISOString());
  const rows = await sql<Row<OpenCases>[]>`
    select failure_code as "failureCode", count(*) as count, ${sumOf(sql)} as units
    from (${ofSelection(sql, shopId, open, selection)}) c
    group by failure_code`;
  return rows.map(withUnits);
}

/**
 * The cases that closed in a period; all of the shop's, or those of a selection. Reads as many entries of an index as
 * there are.
 */
export async function listClosed(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  selection?: Selection,
): Promise<ClosedCases[]> {
  const closed = sql`
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${new Date(from).toISOString()}
      and closed_at < ${new Date(until).toISOString()}
    order by closed_at, opened_at offset 0`;
  const rows = await sql<Row<ClosedCases>[]>`
    select (date_part('epoch', metric_day(closed_at)) * 1000)::bigint as day, result,
      failure_code as "failureCode", attempts, count(*) as count, ${sumOf(sql)} as units
    from (${ofSelection(sql, shopId, closed, selection)}) c
    group by metric_day(closed_at), result, failure_code, attempts`;
  return rows.map(withUnits);
}

const sumOf = (sql: Sql | Transaction) =>
  sql`round(sum(amount) * 10::numeric ^ ${priceDecimals}::int)::text`;

function withUnits<Kind extends Cases>(row: Row<Kind>): Kind {
  return { ...row, units: BigInt(row.units) } as unknown as Kind;
}

export function totalOf(cases: readonly Cases[]): Cases {
  return {
    count: cases.reduce((sum, each) => sum + each.count, 0),
    units: cases.reduce((sum, each) => sum + each.units, 0n),
  };
}

/** What was owed, in the currency's major unit. */
export function amountOf({ units }: Cases, currency: string): number {
  return roundHalfAway(
    { numerator: units, denominator: 10n ** BigInt(priceDecimals) },
    shopDigitsOf(currency),
  );
}
