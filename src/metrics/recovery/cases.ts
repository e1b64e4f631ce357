import type { Sql, Transaction } from '../../store/database.ts';
import type { Result } from './figures.ts';

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

/** By age, in either direction, or the highest amounts first. Costs the same on every page without a code. */
export function listOpenCases(
  sql: Connection,
  shopId: number,
  {
    order,
    code,
    after,
    limit,
    now,
  }: {
    readonly order: CaseOrder;
    readonly code: CodeFilter;
    readonly after: AfterOpen;
    readonly limit: number;
    /** Cases that begin later are not yet seen; epoch milliseconds. */
    readonly now: number;
  },
): Promise<OpenCaseRow[]> {
  const { amount = 'Infinity', subscriptionId = last, position = last } = after ?? {};
  const openedAt = after?.openedAt.toISOString() ?? 'infinity';
  // Each gives the order of one index, in which nulls are the open cases.
  const pages = {
    oldest: () => sql`
      and (opened_at, subscription_id, position) > (
        ${after ? openedAt : '-infinity'}, ${after?.subscriptionId ?? 0}, ${after?.position ?? 0}::bigint)
      order by closed_at, opened_at, subscription_id, position`,
    newest: () => sql`
      and (opened_at, subscription_id, position) < (${openedAt}, ${subscriptionId}, ${position}::bigint)
      order by closed_at desc, opened_at desc, subscription_id desc, position desc`,
    amount: () => sql`
      and (amount, opened_at, subscription_id, position)
        < (${amount}::numeric, ${openedAt}, ${subscriptionId}, ${position}::bigint)
      order by amount desc, opened_at desc, subscription_id desc, position desc`,
  };
  const outer = {
    oldest: () => sql`c.opened_at, c.subscription_id, c.position`,
    newest: () => sql`c.opened_at desc, c.subscription_id desc, c.position desc`,
    amount: () => sql`c.amount desc, c.opened_at desc, c.subscription_id desc, c.position desc`,
  };
  return sql<OpenCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      c.opened_at as "openedAt", c.amount, c.attempts, c.failure_code as "failureCode",
      s.next_billing_at as "nextBillingAt"
    from (
      select subscription_id, position, opened_at, amount, attempts, failure_code
      from dunning_cases
      where shop_id = ${shopId} and closed_at is null and opened_at <= ${new Date(now).toISOString()}
        ${onlyCode(sql, code)} ${pages[order]()}
      limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    order by ${outer[order]()}`;
}

/** Which closed cases. */
export interface ClosedFilter {
  /** Epoch milliseconds; the end is not included. */
  readonly from: number;
  readonly until: number;
  readonly result: Result | undefined;
  readonly code: CodeFilter;
  /** How many payments have failed in a case, at least and at most. */
  readonly attempts: readonly [min: number, max: number];
}

/** The last to close first. */
export function listClosedCases(
  sql: Connection,
  shopId: number,
  filter: ClosedFilter,
  { after, limit }: { readonly after: AfterClosed; readonly limit: number },
): Promise<ClosedCaseRow[]> {
  const { from, until, result, code, attempts } = filter;
  const onlyResult = result === undefined ? sql`` : sql`and result = ${result}`;
  return sql<ClosedCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      c.opened_at as "openedAt", c.amount, c.attempts, c.failure_code as "failureCode",
      c.closed_at as "closedAt", c.result
    from (
      select subscription_id, position, opened_at, closed_at, result, amount, attempts, failure_code
      from dunning_cases
      where shop_id = ${shopId} and closed_at >= ${new Date(from).toISOString()}
        and closed_at < ${new Date(until).toISOString()}
        and attempts between ${attempts[0]} and ${attempts[1]} ${onlyResult} ${onlyCode(sql, code)}
        and (closed_at, opened_at, subscription_id, position) < (
          ${after?.closedAt.toISOString() ?? 'infinity'}, ${after?.openedAt.toISOString() ?? 'infinity'},
          ${after?.subscriptionId ?? last}, ${after?.position ?? last}::bigint)
      order by closed_at desc, opened_at desc, subscription_id desc, position desc
      limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    order by c.closed_at desc, c.opened_at desc, c.subscription_id desc, c.position desc`;
}
