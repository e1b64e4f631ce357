import { isoTime } from '../../iso-time.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { each } from '../../store/lookup.ts';
import { keyset } from '../../store/records/listing.ts';
import type { Part } from '../ledger.ts';
import {
  type CaseRow,
  type CodeFilter,
  byAge,
  closingAfter,
  itsSubscription,
  milliseconds,
  onlyCode,
  openAt,
} from '../recovery.ts';
import { type SegmentAt, rowsInSegment } from '../segments/subscriptions.ts';

export interface OpenCaseRow extends CaseRow {
  readonly nextBillingAt: number | null;
  /** Of how many comparable cases that have closed, and how many of these were recovered; null without any. */
  readonly closed: number | null;
  readonly recovered: number | null;
  /** The amount times the share that was recovered, a decimal; 0 if that is not known. */
  readonly expected: string;
  /** When an owner noted having contacted the customer, and the owner's id. */
  readonly contactedAt: number | null;
  readonly contactedBy: string | null;
}

const byAmount = ['amount', ...byAge] as const;
const byExpected = ['expected', ...byAmount] as const;

/** The orders of open cases: each reads an index from one of its ends, if one has it. Nulls are open cases there. */
const openOrders = {
  expected: ['newest', byExpected, undefined],
  unlikely: ['oldest', byExpected, undefined],
  oldest: ['oldest', byAge, ['closed_at', ...byAge]],
  newest: ['newest', byAge, ['closed_at', ...byAge]],
  amount: ['newest', byAmount, byAmount],
  lowest: ['oldest', byAmount, byAmount],
} as const;

export type CaseOrder = keyof typeof openOrders;

/** The last row of the page before. */
export type AfterOpen =
  | Pick<OpenCaseRow, 'expected' | 'amount' | 'openedAt' | 'subscriptionId' | 'position'>
  | undefined;

type Connection = Sql | Transaction;

/** Which open cases. */
export interface OpenFilter {
  readonly code: CodeFilter;
  /** The instant at which they are open, epoch milliseconds. */
  readonly at: number;
}

export interface OpenPage extends OpenFilter {
  readonly order: CaseOrder;
  readonly after: AfterOpen;
  readonly limit: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** How many cases odds are of at least, if the shop has as many. docs/decisions/0021-figures.md */
const minClosed = 50;
/** How many closed cases are compared, the last ones. */
const maxClosed = 10_000;
/** From how many days on cases are older, for comparing them. */
const ages = '{1,3,7,14,30}';
/** Cases with as many failed attempts or more are alike. */
const maxAttempts = 4;

/**
 * Some open cases with their odds: the share that was recovered of the cases that came as far, with as many failed
 * attempts, as old, and with the same code; of fewer than enough, with any code, then with any number of attempts, then
 * of all.
 * @param asSum whether each row stands for all cases of one amount and the same odds, with their `count`
 */
function withOdds(sql: Connection, shopId: number, at: string, cases: Part, asSum = false): Part {
  const reached = (age: Part) => sql`least(attempts, ${maxAttempts}::int) as reached,
    width_bucket(date_part('epoch', ${age}) / 86400, ${ages}::float8[]) as age`;
  const [ofOpen, ofClosed] = [
    reached(sql`${at}::timestamptz - opened_at`),
    reached(sql`closed_at - opened_at`),
  ];
  const [kept, grouped] = asSum
    ? [sql`failure_code, amount, count(*)`, sql`group by failure_code, amount, reached, age`]
    : [sql`*`, sql``];
  return sql`
    with open as materialized (
      select ${kept}, ${ofOpen} from (${cases}) cases ${grouped}
    ), history as materialized (
      select failure_code, reached, age, count(*) as closed,
        count(*) filter (where result = 'recovered') as recovered
      from (
        select failure_code, result, ${ofClosed} from dunning_cases
        where shop_id = ${shopId} and closed_at <= ${at}
        order by closed_at desc limit ${maxClosed}
      ) last
      group by 1, 2, 3
    ), odds as materialized (
      select g.*, h.closed, h.recovered
      from (select distinct failure_code, reached, age from open) g
      cross join lateral (
        select sum(h.closed)::bigint as closed, sum(h.recovered)::bigint as recovered
        from generate_series(0, 3) coarser
        join history h on (coarser > 0 or h.failure_code is not distinct from g.failure_code)
          and (coarser > 1 or h.reached >= g.reached) and (coarser > 2 or h.age >= g.age)
        group by coarser
        having sum(h.closed) >= ${minClosed}::int or coarser = 3
        order by coarser limit 1
      ) h
    )
    select o.*, odds.closed, odds.recovered,
      coalesce(round(o.amount * odds.recovered / odds.closed, 12), 0) as expected
    from open o
    left join odds on odds.failure_code is not distinct from o.failure_code
      and odds.reached = o.reached and odds.age = o.age`;
}

/**
 * What can be expected of the open cases, a decimal; all of the shop's, or those of a segment. Null if the odds of none
 * are known. Reads all of them.
 */
export async function summariseExpected(
  sql: Connection,
  shopId: number,
  { at, code }: OpenFilter,
  segment?: SegmentAt,
): Promise<string | null> {
  const instant = isoTime(at);
  const cases = sql`
    select * from (${rowsInSegment(sql, shopId, openAt(sql, shopId, instant), segment)}) c
    where true ${onlyCode(sql, code)}`;
  const [row] = await sql<{ expected: string | null }[]>`
    select (sum(expected * count) filter (where closed is not null))::text as expected
    from (${withOdds(sql, shopId, instant, cases, true)}) c`;
  return row?.expected ?? null;
}

/**
 * By what can be expected, by age or by amount; all of the shop's, or those of a segment. Of the whole shop and now, by
 * age or amount, costs the same on every page without a code; else reads all that are open then.
 */
export function listOpenCases(
  sql: Connection,
  shopId: number,
  { order, code, at, after, limit, now }: OpenPage,
  segment?: SegmentAt,
): Promise<OpenCaseRow[]> {
  const instant = isoTime(at);
  const [direction, columns, indexed] = openOrders[order];
  const { beyond, by } = keyset(
    sql,
    direction,
    columns,
    after && {
      expected: after.expected,
      amount: after.amount,
      opened_at: isoTime(after.openedAt),
      subscription_id: after.subscriptionId,
      position: after.position,
    },
  );
  const ofCode = onlyCode(sql, code);
  const all = rowsInSegment(sql, shopId, openAt(sql, shopId, instant), segment);
  const first = (cases: Part) =>
    sql`select * from (${cases}) c where ${beyond} ${ofCode} order by ${by()} limit ${limit}`;
  const cases = () => {
    if (!indexed) return sql`select * from (${all}) c where true ${ofCode}`;
    if (at !== now || segment) return first(all);
    return first(sql`
      select * from (
        select * from dunning_cases
        where shop_id = ${shopId} and closed_at is null and opened_at <= ${instant} and ${beyond} ${ofCode}
        order by ${keyset(sql, direction, indexed).by()} limit ${limit}
      ) still_open
      union all
      select * from (${closingAfter(sql, shopId, instant)}) closing_later`);
  };
  return sql<OpenCaseRow[]>`
    select c.subscription_id as "subscriptionId", c.position, s.customer_id as "customerId",
      ${milliseconds(sql, 'c.opened_at')} as "openedAt", c.amount, c.attempts,
      c.failure_code as "failureCode", ${milliseconds(sql, 's.next_billing_at')} as "nextBillingAt",
      c.closed, c.recovered, c.expected::text as expected,
      ${milliseconds(sql, 'd.contacted_at')} as "contactedAt", d.contacted_by as "contactedBy"
    from (
      select * from (${withOdds(sql, shopId, instant, cases())}) c
      where ${beyond} order by ${by()} limit ${limit}
    ) c
    ${itsSubscription(sql, shopId)}
    left join lateral (
      select * from ${each(sql, shopId, 'contacted_cases', 'subscription_id', 'c.subscription_id')} noted
      where opened_at = c.opened_at
    ) d on true
    order by ${by('c')}`;
}
