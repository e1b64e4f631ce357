import type { Sql, Transaction } from '../../store/database.ts';
import { type TimeOrder, keyset } from '../../store/records/listing.ts';
import { type Selection, ofSelection } from '../segments/chosen.ts';
import { type Result, closingAfter, openAt } from './figures.ts';

/** A dunning case, and whose it is. Amounts are decimals, times epoch milliseconds. */
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

export interface OpenCaseRow extends CaseRow {
  readonly nextBillingAt: number | null;
}

export interface ClosedCaseRow extends CaseRow {
  readonly closedAt: number;
  readonly result: Result;
}

const byAge = ['opened_at', 'subscription_id', 'position'] as const;
const byAmount = ['amount', ...byAge] as const;

/** The orders of open cases: each reads an index from one of its ends, in which nulls are the open cases. */
const openOrders = {
  oldest: ['oldest', byAge, ['closed_at', ...byAge]],
  newest: ['newest', byAge, ['closed_at', ...byAge]],
  amount: ['newest', byAmount, byAmount],
  lowest: ['oldest', byAmount, byAmount],
} as const;

export type CaseOrder = keyof typeof openOrders;

/** The last row of the page before. */
type After<Fields extends keyof ClosedCaseRow> = Pick<ClosedCaseRow, Fields> | undefined;
export type AfterOpen = After<'amount' | 'openedAt' | 'subscriptionId' | 'position'>;
export type AfterClosed = After<'closedAt' | 'openedAt' | 'subscriptionId' | 'position'>;

type Connection = Sql | Transaction;

const iso = (at: number) => new Date(at).toISOString();

const milliseconds = (sql: Connection, time: 'c.opened_at' | 'c.closed_at' | 's.next_billing_at') =>
  sql`(date_part('epoch', ${sql.unsafe(time)}) * 1000)::bigint`;

/** null: only cases without a code; undefined: any. */
type CodeFilter = string | null | undefined;

const onlyCode = (sql: Connection, code: CodeFilter) =>
  code === undefined ? sql`` : sql`and failure_code is not distinct from ${code}::text`;

/** Whose case `c` is, as `s`. */
const itsSubscription = (sql: Connection, shopId: number) => sql`
  cross join lateral (
    select * from subscriptions
    where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
    order by subscription_id limit 1
  ) s`;

/** Which open cases, and in which order. */
export interface OpenPage {
  readonly order: CaseOrder;
  readonly code: CodeFilter;
  /** The instant at which they are open, epoch milliseconds. */
  readonly at: number;
  readonly after: AfterOpen;
  readonly limit: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * By age or amount; all of the shop's, or those of a selection. Of the whole shop and now, costs the same on every page
 * without a code; else reads all that are open then.
 */
export function listOpenCases(
  sql: Connection,
  shopId: number,
  { order, code, at, after, limit, now }: OpenPage,
  selection?: Selection,
): Promise<OpenCaseRow[]> {
  const instant = iso(at);
  const [direction, columns, indexed] = openOrders[order];
  const last = after && {
    amount: after.amount,
    opened_at: iso(after.openedAt),
    subscription_id: after.subscriptionId,
    position: after.position,
  };
  const { beyond, by } = keyset(sql, direction, columns, last);
  const matching = sql`${beyond} ${onlyCode(sql, code)}`;
  const cases =
    at === now && !selection
      ? sql`
        select * from (
          select * from dunning_cases
          where shop_id = ${shopId} and closed_at is null and opened_at <= ${instant} and ${matching}
          order by ${keyset(sql, direction, indexed).by()} limit ${limit}
        ) still_open
        union all
        select * from (${closingAfter(sql, shopId, instant)}) closing_later`
      : ofSelection(sql, shopId, openAt(sql, shopId, instant), selection);
  return sql<OpenCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      ${milliseconds(sql, 'c.opened_at')} as "openedAt", c.amount, c.attempts,
      c.failure_code as "failureCode", ${milliseconds(sql, 's.next_billing_at')} as "nextBillingAt"
    from (
      select * from (${cases}) c where ${matching}
      order by ${by()} limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    order by ${by('c')}`;
}

/** Which closed cases. */
export interface ClosedFilter {
  /** Epoch milliseconds; the end is not included. */
  readonly from: number;
  readonly until: number;
  readonly result: Result | undefined;
  readonly code: CodeFilter;
  /** How many payments have failed in a case. */
  readonly attempts: Range;
  /** How often collecting was tried again after the failure that opened a case. */
  readonly retries: Range;
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
  readonly order?: TimeOrder;
  readonly after: AfterClosed;
  readonly limit: number;
}

/** By when they closed; all of the shop's, or those of a selection. */
export function listClosedCases(
  sql: Connection,
  shopId: number,
  filter: ClosedFilter,
  { order = 'newest', after, limit }: ClosedPage,
  selection?: Selection,
): Promise<ClosedCaseRow[]> {
  const { from, until, result, code, attempts, retries } = filter;
  const onlyResult = result === undefined ? sql`` : sql`and result = ${result}`;
  const last = after && {
    closed_at: iso(after.closedAt),
    opened_at: iso(after.openedAt),
    subscription_id: after.subscriptionId,
    position: after.position,
  };
  const { beyond, by } = keyset(sql, order, ['closed_at', ...byAge], last);
  const closed = sql`
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${iso(from)} and closed_at < ${iso(until)}
      and attempts between ${attempts[0]} and ${attempts[1]}
      and attempts - (result = 'lost')::int between ${retries[0]} and ${retries[1]} ${onlyResult} ${onlyCode(sql, code)}
      and ${beyond}
    order by ${by()} offset 0`;
  return sql<ClosedCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      ${milliseconds(sql, 'c.opened_at')} as "openedAt", c.amount, c.attempts,
      c.failure_code as "failureCode", ${milliseconds(sql, 'c.closed_at')} as "closedAt", c.result
    from (${ofSelection(sql, shopId, closed, selection)}) c
    ${itsSubscription(sql, shopId)}
    order by ${by('c')}
    limit ${limit}`;
}
