import { isoTime } from '../iso-time.ts';
import { shopDigitsOf, roundHalfAway, unitsPerOne } from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import type { Period } from './bounds.ts';
import { type Part, inUnits } from './ledger.ts';
import { type SegmentAt, rowsInSegment } from './segments/subscriptions.ts';
import { keyset } from '../store/records/listing.ts';
import { lookup } from '../store/lookup.ts';

/** How a dunning case ended. */
export const results = ['recovered', 'lost'] as const;
export type Result = (typeof results)[number];

/** Some dunning cases. */
export interface Cases {
  readonly count: number;
  /** What was owed, in units of the last decimal place of prices. */
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
 * The cases that are open at an instant, by failure code; all of the shop's, or those of a segment.
 * @param at epoch milliseconds
 */
export async function listOutstanding(
  sql: Sql | Transaction,
  shopId: number,
  at: number,
  segment?: SegmentAt,
): Promise<OpenCases[]> {
  const open = openAt(sql, shopId, isoTime(at));
  const rows = await sql<Row<OpenCases>[]>`
    select failure_code as "failureCode", count(*) as count, ${inUnits(sql, 'sum(amount)')} as units
    from (${rowsInSegment(sql, shopId, open, segment)}) c
    group by failure_code`;
  return rows.map(withUnits);
}

/**
 * The cases that closed in a period; all of the shop's, or those of a segment. Reads as many entries of an index as
 * there are.
 */
export async function listClosed(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  segment?: SegmentAt,
): Promise<ClosedCases[]> {
  const closed = sql`
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${isoTime(from)}
      and closed_at < ${isoTime(until)}
    order by closed_at, opened_at offset 0`;
  const rows = await sql<Row<ClosedCases>[]>`
    select (date_part('epoch', metric_day(closed_at)) * 1000)::bigint as day, result,
      failure_code as "failureCode", attempts, count(*) as count, ${inUnits(sql, 'sum(amount)')} as units
    from (${rowsInSegment(sql, shopId, closed, segment)}) c
    group by metric_day(closed_at), result, failure_code, attempts`;
  return rows.map(withUnits);
}

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
  return roundHalfAway({ numerator: units, denominator: unitsPerOne }, shopDigitsOf(currency));
}

/** Attempts to collect after a case opened. */
export interface Attempts {
  /** The first of them within its case. */
  readonly number: number;
  readonly succeeded: Cases;
  readonly failed: Cases;
  /** How many cases the failed ones are in. */
  readonly failedIn: number;
}

/** The first and the last attempt within a case that are counted together. */
const groups: readonly (readonly [first: number, last: number])[] = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, Infinity],
];

/** How the first attempts ended, the second, the third, and all later ones. */
export function attemptsIn(closed: readonly ClosedCases[]): Attempts[] {
  return groups.map(([first, last]) => {
    // The failure that opens a case is no attempt to collect it, and each later one is a failed attempt.
    const failedOf = ({ attempts }: ClosedCases) =>
      Math.max(0, Math.min(attempts - 1, last) - first + 1);
    const hasSucceeded = ({ result, attempts }: ClosedCases) =>
      result === 'recovered' && attempts >= first && attempts <= last;
    return {
      number: first,
      succeeded: sumOf(closed, (each) => (hasSucceeded(each) ? 1 : 0)),
      failed: sumOf(closed, failedOf),
      failedIn: sumOf(closed, (each) => Math.min(1, failedOf(each))).count,
    };
  });
}

/** @param timesOf how often each of some cases counts */
function sumOf(closed: readonly ClosedCases[], timesOf: (each: ClosedCases) => number): Cases {
  return {
    count: closed.reduce((sum, each) => sum + each.count * timesOf(each), 0),
    units: closed.reduce((sum, each) => sum + each.units * BigInt(timesOf(each)), 0n),
  };
}

/** A dunning case and its customer. Amounts are decimals, times epoch milliseconds. */
export interface CaseRow {
  readonly subscriptionId: number;
  /** Tells the cases of a subscription apart. */
  readonly position: number;
  readonly customerId: number;
  readonly openedAt: number;
  /** Of the failed payment that opened it. */
  readonly amount: string;
  /** How many payments have failed in it. */
  readonly attempts: number;
  /** Of the last failed payment; null if the source gave none. */
  readonly failureCode: string | null;
}

export interface ClosedCaseRow extends CaseRow {
  readonly closedAt: number;
  readonly result: Result;
}

export const byAge = ['opened_at', 'subscription_id', 'position'] as const;

const byClosing = ['closed_at', ...byAge] as const;
const closedOrders = {
  newest: ['newest', byClosing],
  oldest: ['oldest', byClosing],
  amount: ['newest', ['amount', ...byAge]],
  lowest: ['oldest', ['amount', ...byAge]],
} as const;

export type ClosedOrder = keyof typeof closedOrders;

/** The last row of the page before. */
export type AfterClosed =
  | Pick<ClosedCaseRow, 'closedAt' | 'amount' | 'openedAt' | 'subscriptionId' | 'position'>
  | undefined;

type Connection = Sql | Transaction;

type Time = 'c.opened_at' | 'c.closed_at' | 's.next_billing_at' | 'd.contacted_at';

export const milliseconds = (sql: Connection, time: Time) =>
  sql`(date_part('epoch', ${sql.unsafe(time)}) * 1000)::bigint`;

/** null: only cases without a code; undefined: any. */
export type CodeFilter = string | null | undefined;

export const onlyCode = (sql: Connection, code: CodeFilter) =>
  code === undefined ? sql`` : sql`and failure_code is not distinct from ${code}::text`;

/** Whose case `c` is, as `s`. */
export const itsSubscription = (sql: Connection, shopId: number) => sql`
  cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s`;

/** Which closed cases. */
export interface ClosedFilter {
  /** Epoch milliseconds; the end is not included. */
  readonly from: number;
  readonly until: number;
  readonly result: Result | undefined;
  readonly code: CodeFilter;
  /** How many payments have failed in a case; undefined for any number. */
  readonly attempts: Range | undefined;
  /** How often collecting was tried again after the failure that opened a case. */
  readonly retries: Range | undefined;
}

/** At least and at most. */
export type Range = readonly [min: number, max: number];

/** Every payment of a case but the first is one; a recovered case has one more than have failed. */
export function retriesOf({
  result,
  attempts,
}: Pick<ClosedCaseRow, 'result' | 'attempts'>): number {
  return result === 'recovered' ? attempts : attempts - 1;
}

export interface ClosedPage {
  /** The last to close first, if it is left out. */
  readonly order?: ClosedOrder;
  readonly after: AfterClosed;
  readonly limit: number;
}

/**
 * All of the shop's, or those of a segment. By when they closed, reads only the page's entries of an index; by amount,
 * those of the period, as listClosed does.
 */
export function listClosedCases(
  sql: Connection,
  shopId: number,
  filter: ClosedFilter,
  { order = 'newest', after, limit }: ClosedPage,
  segment?: SegmentAt,
): Promise<ClosedCaseRow[]> {
  const { from, until, result, code, attempts, retries } = filter;
  // Only filters that were requested: each more makes PostgreSQL's estimate lower, and its plan worse.
  const onlyResult = result === undefined ? sql`` : sql`and result = ${result}`;
  const onlyAttempts = attempts
    ? sql`and attempts between ${attempts[0]} and ${attempts[1]}`
    : sql``;
  const onlyRetries = retries
    ? sql`and attempts - (result = 'lost')::int between ${retries[0]} and ${retries[1]}`
    : sql``;
  const last = after && {
    closed_at: isoTime(after.closedAt),
    amount: after.amount,
    opened_at: isoTime(after.openedAt),
    subscription_id: after.subscriptionId,
    position: after.position,
  };
  const [direction, columns] = closedOrders[order];
  const { beyond, by } = keyset(sql, direction, columns, last);
  const closed = sql`
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${isoTime(from)} and closed_at < ${isoTime(until)}
      ${onlyAttempts} ${onlyRetries} ${onlyResult} ${onlyCode(sql, code)}
      and ${beyond}
    order by ${keyset(sql, direction, byClosing).by()} offset 0`;
  return sql<ClosedCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      ${milliseconds(sql, 'c.opened_at')} as "openedAt", c.amount, c.attempts,
      c.failure_code as "failureCode", ${milliseconds(sql, 'c.closed_at')} as "closedAt", c.result
    from (
      select * from (${rowsInSegment(sql, shopId, closed, segment)}) matching
      order by ${by()} limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    order by ${by('c')}`;
}
