import { isoTime } from '../iso-time.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type Position, keyset, orderOf } from '../store/records/listing.ts';
import { type Period, day } from './bounds.ts';
import { type ActiveValue, type IntervalText } from '../mrr.ts';
import type { Part } from './ledger.ts';
import { type OfSubscription, type SegmentAt, inSegment } from './segments/subscriptions.ts';
import {
  type Due,
  changingAfter,
  projectRenewals,
  projectedWeekOf,
  statusBy,
  weeksOf,
} from './renewals.ts';
import { lookup } from '../store/lookup.ts';

/** An active subscription that is expected to renew. */
export interface RenewingRow extends OfSubscription, Omit<ActiveValue, 'sum'> {
  /** Of the lines that are billed then, a decimal. */
  readonly price: string;
  /** Epoch milliseconds. */
  readonly nextBillingAt: number;
}

/** A week of the projection, from 0, as of an instant, epoch milliseconds. */
export interface RenewalsOf {
  readonly now: number;
  readonly week: number;
}

export type RenewingOrder = 'soonest' | 'latest';

export interface RenewingPage {
  /** The next to be billed first, if it is left out. */
  readonly order?: RenewingOrder;
  /** The last row of the page before: its next billing date, as `createdAt`, and its subscription. */
  readonly after: Position | undefined;
  readonly limit: number;
}

/** As many as are read at once: not all that are due on some days renew in one week. */
const rowsPerRead = 500;

/** The subscriptions that projectRenewals counts in a week, by their next billing date, then by id. */
export async function listRenewing(
  sql: Sql | Transaction,
  shopId: number,
  { now, week }: RenewalsOf,
  page: RenewingPage,
): Promise<RenewingRow[]> {
  const due = (await projectRenewals(sql, shopId, now))[week]?.due ?? new Map();
  const rows: RenewingRow[] = [];
  let { after } = page;
  const isReversed = page.order === 'latest';
  const runs = runsOf(due);
  for (const days of isReversed ? runs.toReversed() : runs) {
    const last = after?.createdAt;
    const [start, end] = isReversed ? [now, last ?? Infinity] : [last ?? now, Infinity];
    const span = {
      from: Math.max(days.from, now, start),
      until: Math.min(days.until, end + 1),
    };
    for (let isMore = span.from < span.until; isMore;) {
      const part = { ...page, after, limit: rowsPerRead };
      const found = await listDueBetween(sql, shopId, now, span, part, {
        intervals: days.intervals,
      });
      rows.push(
        ...found.filter(({ unit, count, nextBillingAt }) =>
          weeksOf(`${unit} ${count}`, nextBillingAt, now).has(week),
        ),
      );
      if (rows.length >= page.limit) return rows.slice(0, page.limit);
      const row = found.at(-1);
      if (row) after = { createdAt: row.nextBillingAt, id: row.subscriptionId };
      isMore = found.length === rowsPerRead;
    }
  }
  return rows;
}

/** The same for the next 7 days and a segment of the subscriptions, from the records. */
export function renewingFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  page: RenewingPage,
  segment?: SegmentAt,
): Promise<RenewingRow[]> {
  return listDueBetween(sql, shopId, now, projectedWeekOf(now, 0), page, { segment });
}

/** Days that follow one another, and the intervals of what is due first on them and renews in the week. */
interface Run extends Period {
  readonly intervals: ReadonlySet<IntervalText>;
}

function runsOf(due: Due): Run[] {
  const runs: Run[] = [];
  for (const [from, intervals] of [...due].toSorted(([a], [b]) => a - b)) {
    const last = runs.at(-1);
    const isNext = last?.until === from;
    if (isNext) runs.pop();
    runs.push({
      from: isNext ? last.from : from,
      until: from + day,
      intervals: isNext ? last.intervals.union(intervals) : intervals,
    });
  }
  return runs;
}

/**
 * The active subscriptions whose next billing date is in a period that begins at `now` or later. The index has them
 * by their final status, so those that change later are followed.
 */
function listDueBetween(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  { from, until }: Period,
  { order = 'soonest', after, limit }: RenewingPage,
  only: {
    readonly intervals?: ReadonlySet<IntervalText>;
    readonly segment?: SegmentAt | undefined;
  },
): Promise<RenewingRow[]> {
  const [at, since, end] = [now, from, until].map(isoTime) as [string, string, string];
  const direction = order === 'latest' ? 'newest' : 'oldest';
  const last = after && {
    next_billing_at: isoTime(after.createdAt),
    subscription_id: after.id,
  };
  const { beyond, by } = keyset(sql, direction, ['next_billing_at', 'subscription_id'], last);
  const intervals = only.intervals ? `{${[...only.intervals].join(',')}}` : null;
  const selected = (subscriptions: Part) => sql`
    select * from (${inSegment(sql, shopId, subscriptions, only.segment)}) s
    where (${intervals}::text[] is null or unit || ' ' || count = any (${intervals}::text[]))
      and ${beyond}
    order by ${by()} limit ${limit}`;
  const unchanged = sql`
    select * from subscriptions
    where shop_id = ${shopId} and status = 'active' and status_since <= ${at}
      and next_billing_at >= ${since} and next_billing_at < ${end}
    order by next_billing_at ${orderOf(sql, direction).by} offset 0`;
  const changing = sql`
    select s.* from (
      ${changingAfter(sql, shopId, at)}
    ) c
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s
    ${statusBy(sql, shopId, at)}
    where s.status_since is not null and s.created_at <= ${at} and coalesce(seen.to_status, 'active') = 'active'
      and s.next_billing_at >= ${since} and s.next_billing_at < ${end}`;
  return sql<RenewingRow[]>`
    select subscription_id as "subscriptionId", customer_id as "customerId", plan_id as "planId",
      plan_name as "planName", unit, count,
      price_at(current_price, other_intervals, unit || ' ' || count) as price,
      (date_part('epoch', next_billing_at) * 1000)::bigint as "nextBillingAt"
    from ((${selected(unchanged)}) union all (${selected(changing)})) due
    order by ${by()}
    limit ${limit}`;
}
