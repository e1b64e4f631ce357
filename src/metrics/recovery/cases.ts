import type { Sql, Transaction } from '../../store/database.ts';
import { type Selection, ofSelection } from '../segments/chosen.ts';
import { type Result, closingAfter, openAt } from './figures.ts';

/** A dunning case, and whose it is. Amounts are decimals. */
export interface CaseRow {
  readonly subscriptionId: number;
  /** Tells the cases of a subscription apart. */
  readonly position: number;
  readonly customerId: number;
  readonly openedAt: Date;
  /** Of the failed payment that opened it. */
  readonly amount: string;
  /** How many payments have failed in it. */
  readonly attempts: number;
  /** Of the last failed payment; null if the source gave none. */
  readonly failureCode: string | null;
}

export interface OpenCaseRow extends CaseRow {
  readonly nextBillingAt: Date | null;
}

export interface ClosedCaseRow extends CaseRow {
  readonly closedAt: Date;
  readonly result: Result;
}

/** The orders of open cases. */
export const caseOrders = ['oldest', 'newest', 'amount'] as const;
export type CaseOrder = (typeof caseOrders)[number];

/** The last row of the page before. */
type After<Fields extends keyof ClosedCaseRow> = Pick<ClosedCaseRow, Fields> | undefined;
export type AfterOpen = After<'amount' | 'openedAt' | 'subscriptionId' | 'position'>;
export type AfterClosed = After<'closedAt' | 'openedAt' | 'subscriptionId' | 'position'>;

type Connection = Sql | Transaction;

const last = Number.MAX_SAFE_INTEGER;

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
 * By age, in either direction, or the highest amounts first; all of the shop's, or those of a selection. Of the whole
 * shop and now, costs the same on every page without a code; else reads all that are open then.
 */
export function listOpenCases(
  sql: Connection,
  shopId: number,
  { order, code, at, after, limit, now }: OpenPage,
  selection?: Selection,
): Promise<OpenCaseRow[]> {
  const { amount = 'Infinity', subscriptionId = last, position = last } = after ?? {};
  const openedAt = after?.openedAt.toISOString() ?? 'infinity';
  const instant = new Date(at).toISOString();
  // Each has the order of one index, in which nulls are the open cases.
  const { from, indexed, ordered } = {
    oldest: () => ({
      from: sql`(opened_at, subscription_id, position) > (
        ${after ? openedAt : '-infinity'}, ${after?.subscriptionId ?? 0}, ${after?.position ?? 0}::bigint)`,
      indexed: sql`closed_at, opened_at, subscription_id, position`,
      ordered: sql`c.opened_at, c.subscription_id, c.position`,
    }),
    newest: () => ({
      from: sql`(opened_at, subscription_id, position) < (${openedAt}, ${subscriptionId}, ${position}::bigint)`,
      indexed: sql`closed_at desc, opened_at desc, subscription_id desc, position desc`,
      ordered: sql`c.opened_at desc, c.subscription_id desc, c.position desc`,
    }),
    amount: () => ({
      from: sql`(amount, opened_at, subscription_id, position)
        < (${amount}::numeric, ${openedAt}, ${subscriptionId}, ${position}::bigint)`,
      indexed: sql`amount desc, opened_at desc, subscription_id desc, position desc`,
      ordered: sql`c.amount desc, c.opened_at desc, c.subscription_id desc, c.position desc`,
    }),
  }[order]();
  const cases =
    at === now && !selection
      ? sql`
        select * from (
          select * from dunning_cases
          where shop_id = ${shopId} and closed_at is null and opened_at <= ${instant}
            and ${from} ${onlyCode(sql, code)}
          order by ${indexed} limit ${limit}
        ) still_open
        union all
        select * from (${closingAfter(sql, shopId, instant)}) closing_later`
      : ofSelection(sql, shopId, openAt(sql, shopId, instant), selection);
  return sql<OpenCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      c.opened_at as "openedAt", c.amount, c.attempts, c.failure_code as "failureCode",
      s.next_billing_at as "nextBillingAt"
    from (
      select * from (${cases}) c where ${from} ${onlyCode(sql, code)}
      order by ${ordered} limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    order by ${ordered}`;
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
  readonly after: AfterClosed;
  readonly limit: number;
}

/** The last to close first; all of the shop's, or those of a selection. */
export function listClosedCases(
  sql: Connection,
  shopId: number,
  filter: ClosedFilter,
  { after, limit }: ClosedPage,
  selection?: Selection,
): Promise<ClosedCaseRow[]> {
  const { from, until, result, code, attempts, retries } = filter;
  const onlyResult = result === undefined ? sql`` : sql`and result = ${result}`;
  const closed = sql`
    select * from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${new Date(from).toISOString()}
      and closed_at < ${new Date(until).toISOString()}
      and attempts between ${attempts[0]} and ${attempts[1]}
      and attempts - (result = 'lost')::int between ${retries[0]} and ${retries[1]} ${onlyResult} ${onlyCode(sql, code)}
      and (closed_at, opened_at, subscription_id, position) < (
        ${after?.closedAt.toISOString() ?? 'infinity'}, ${after?.openedAt.toISOString() ?? 'infinity'},
        ${after?.subscriptionId ?? last}, ${after?.position ?? last}::bigint)
    order by closed_at desc, opened_at desc, subscription_id desc, position desc offset 0`;
  return sql<ClosedCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      c.opened_at as "openedAt", c.amount, c.attempts, c.failure_code as "failureCode",
      c.closed_at as "closedAt", c.result
    from (${ofSelection(sql, shopId, closed, selection)}) c
    ${itsSubscription(sql, shopId)}
    order by c.closed_at desc, c.opened_at desc, c.subscription_id desc, c.position desc
    limit ${limit}`;
}
