import type { Sql, Transaction } from '../store/database.ts';
import { type Period, day, restOfTime } from './bounds.ts';
import { decimalText } from '../money.ts';
import { type ActiveValue, type IntervalText, parseInterval } from './facts.ts';
import { endsOf, keptOf } from './pieces.ts';
import {
  changesIn,
  corrections,
  failingAgain,
  happened,
  scopeOf,
  superseded,
} from './summary-parts.ts';

/** The figures of a UTC day of a period; sums are decimals as text. */
export interface DayRow {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
  /** At the end of the day, or of the period. */
  readonly activeSubscribers: number;
  /** At the end of the day, or of the period, at today's prices and intervals, as earlier ones are not stored. */
  readonly activeValue: readonly ActiveValue[];
  readonly newSubscribers: number;
  readonly cancelled: number;
  readonly paid: string;
  readonly refunded: string;
  readonly failedPayments: number;
  readonly dunningRecovered: number;
  readonly sessionsSaved: number;
  readonly sessionsCancelled: number;
  readonly sessionsAbandoned: number;
  readonly sessionsOpen: number;
}

export type EventsOfDay = Omit<DayRow, 'activeSubscribers' | 'activeValue'>;

/** What was active at the end of a period, or changed that on a day. */
export interface Shift {
  /** Start of the day, epoch milliseconds; null for the state at the end of the period. */
  readonly day: number | null;
  /** Of active subscriptions; null for subscribers. */
  readonly interval: IntervalText | null;
  readonly count: number;
  /** A whole number, in units of the sixth decimal place; prices have fewer places. */
  readonly amount: string;
}

export const priceDecimals = 6;

/**
 * The UTC days of a period, oldest first; the first and the last may be partial. As in the period's figures, what
 * happened is seen from its end: what was cancelled and came back, or failed again, in the period counts on the day
 * on which it was cancelled or failed last.
 */
export async function listDays(sql: Sql, shopId: number, period: Period): Promise<DayRow[]> {
  const [events, shifts] = await Promise.all([
    listEvents(sql, shopId, period),
    listShifts(sql, shopId, period),
  ]);
  return toDays(period, events, shifts);
}

/** The days of a period. @param shifts those of its end first, then the latest first */
export function toDays(
  period: Period,
  events: readonly EventsOfDay[],
  shifts: readonly Shift[],
): DayRow[] {
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  let subscribers = 0;
  const values = new Map<IntervalText, bigint>();
  const move = ({ interval, count, amount }: Shift, sign: 1 | -1) => {
    if (interval === null) subscribers += sign * count;
    else values.set(interval, (values.get(interval) ?? 0n) + BigInt(sign) * BigInt(amount));
  };
  for (const each of shifts) if (each.day === null) move(each, 1);

  const dated = shifts.filter((each) => each.day !== null);
  const first = Math.floor(period.from / day) * day;
  const last = Math.floor((period.until - 1) / day) * day;
  const rows: DayRow[] = [];
  let next = 0;
  for (let at = last; at >= first; at -= day) {
    for (; next < dated.length && (dated[next]?.day as number) > at; next += 1) {
      move(dated[next] as Shift, -1);
    }
    rows.push({
      ...noEvents,
      ...eventsByDay.get(at),
      day: at,
      activeSubscribers: subscribers,
      activeValue: [...values].flatMap(([interval, amount]) =>
        amount === 0n
          ? []
          : [{ ...parseInterval(interval), sum: decimalText(amount, priceDecimals) }],
      ),
    });
  }
  return rows.toReversed();
}

/** What happened on each day; days without anything have no row. */
function listEvents(sql: Sql, shopId: number, period: Period) {
  const scope = scopeOf(shopId, period);
  return sql<EventsOfDay[]>`
    with kept as materialized (${keptOf(sql, shopId)}),
    ends as materialized (${endsOf(sql, scope.bounds)}),
    superseded as materialized (${superseded(sql, shopId, scope.at)})
    ${sumsByDay(sql)}
    from (
      select * from (${happened(sql, scope)}) h
      union all select * from (${failingAgain(sql, scope)}) f
      union all select * from (${corrections(sql, scope)}) c
    ) facts
    group by metric_day(at)`;
}

/** What is selected of facts, grouped by their day. */
export function sumsByDay(sql: Sql | Transaction) {
  return sql`
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day,
      coalesce(sum(count) filter (where fact = 'new_subscriber'), 0)::bigint as "newSubscribers",
      coalesce(sum(count) filter (where fact = 'cancelled'), 0)::bigint as cancelled,
      coalesce(sum(amount) filter (where fact = 'paid'), 0) as paid,
      coalesce(sum(amount) filter (where fact = 'refunded'), 0) as refunded,
      coalesce(sum(count) filter (where fact = 'cycle_failed'), 0)::bigint as "failedPayments",
      coalesce(sum(count) filter (where fact = 'dunning_recovered'), 0)::bigint
        as "dunningRecovered",
      coalesce(sum(count) filter (where fact = 'session_saved'), 0)::bigint as "sessionsSaved",
      coalesce(sum(count) filter (where fact = 'session_cancelled'), 0)::bigint
        as "sessionsCancelled",
      coalesce(sum(count) filter (where fact = 'session_abandoned'), 0)::bigint
        as "sessionsAbandoned",
      coalesce(sum(count) filter (where fact = 'session_open'), 0)::bigint as "sessionsOpen"`;
}

/** The state at the end of the period, and how it changed on each day but the first, last one first. */
function listShifts(sql: Sql, shopId: number, { from, until }: Period): Promise<Shift[]> {
  const after = restOfTime(until);
  const second = new Date((Math.floor(from / day) + 1) * day).toISOString();
  return sql<Shift[]>`
    with changed_after as materialized (${changesIn(sql, shopId, after.end)})
    select (date_part('epoch', day) * 1000)::bigint as day, interval, sum(count)::bigint as count,
      round(sum(amount) * 10::numeric ^ ${priceDecimals}::int)::text as amount
    from (
      select s.day, case when fact <> 'subscriber' then interval_of_fact(fact) end as interval,
        s.sign * count as count, s.sign * amount as amount
      from (
        select null::timestamptz as day, 1 as sign, fact, count, amount from metric_ledger
        where shop_id = ${shopId} and grain = 'all'
        union all
        select case when bucket < ${after.days} then bucket end,
          case when bucket < ${after.days} then 1 else -1 end, fact, count, amount
        from metric_ledger
        where shop_id = ${shopId} and grain = 'shift' and bucket >= ${second}
        union all
        -- Not yet at the end of the period, and so not on its last day.
        select each.day, -1, f.fact, f.count, f.amount
        from changed_after c
        cross join lateral (
          select 'subscriber' as fact, c.subscriber as count, 0 as amount
          union all
          select fact, count, amount from unnest(c.active) a
        ) f
        cross join lateral (values (null), (metric_day(c.at))) each (day)
      ) s
      where fact = 'subscriber' or fact like 'active %'
    ) shifts
    group by shifts.day, interval
    order by shifts.day desc nulls first`;
}

const noEvents: Omit<EventsOfDay, 'day'> = {
  newSubscribers: 0,
  cancelled: 0,
  paid: '0',
  refunded: '0',
  failedPayments: 0,
  dunningRecovered: 0,
  sessionsSaved: 0,
  sessionsCancelled: 0,
  sessionsAbandoned: 0,
  sessionsOpen: 0,
};

/** The UTC day of the earliest fact, epoch milliseconds; null if there are none. */
export async function findFirstDay(sql: Sql, shopId: number): Promise<number | null> {
  const [row] = await sql<{ day: number }[]>`
    select (date_part('epoch', bucket) * 1000)::bigint as day from metric_ledger
    where shop_id = ${shopId} and grain = 'day' order by bucket limit 1`;
  return row?.day ?? null;
}
