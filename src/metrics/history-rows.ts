import type { Sql } from '../store/database.ts';
import { day } from './bounds.ts';
import { decimalText } from '../money.ts';
import {
  type ActiveFact,
  type ActiveValue,
  type IntervalText,
  isActiveFact,
  parseInterval,
  partsOf,
} from './facts.ts';

/** The figures of a completed UTC day; sums are decimals as text. */
export interface DayRow {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
  /** At the end of the day. */
  readonly activeSubscribers: number;
  /** At the end of the day, at today's prices and intervals, as earlier ones are not stored. */
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

type EventsOfDay = Omit<DayRow, 'activeSubscribers' | 'activeValue'>;

interface Shift {
  /** Epoch milliseconds; null for the sum over all time. */
  readonly day: number | null;
  readonly fact: 'subscriber' | ActiveFact;
  readonly count: number;
  /** In units of the sixth decimal place; prices have fewer places. */
  readonly amount: bigint;
}

export const priceDecimals = 6;

/**
 * The last completed UTC days, oldest first. The state at the end of a day is the final state minus
 * all changes after that day.
 * @param now epoch milliseconds
 */
export async function listDays(
  sql: Sql,
  shopId: number,
  days: number,
  now: number,
): Promise<DayRow[]> {
  const today = Math.floor(now / day) * day;
  const first = today - days * day;
  const [events, shifts] = await Promise.all([
    sql<EventsOfDay[]>`
      select (date_part('epoch', bucket) * 1000)::bigint as day,
        coalesce(sum(count) filter (where fact = 'new_subscriber'), 0)::bigint as "newSubscribers",
        coalesce(sum(count) filter (where fact in ('cancelled', 'cancelled_before')), 0)::bigint
          as cancelled,
        coalesce(sum(amount) filter (where fact = 'paid'), 0) as paid,
        coalesce(sum(amount) filter (where fact = 'refunded'), 0) as refunded,
        coalesce(sum(count) filter (where fact in ('cycle_failed', 'cycle_failed_before')), 0)
          ::bigint as "failedPayments",
        coalesce(sum(count) filter (where fact = 'dunning_recovered'), 0)::bigint
          as "dunningRecovered",
        coalesce(sum(count) filter (where fact = 'session_saved'), 0)::bigint as "sessionsSaved",
        coalesce(sum(count) filter (where fact = 'session_cancelled'), 0)::bigint
          as "sessionsCancelled",
        coalesce(sum(count) filter (where fact = 'session_abandoned'), 0)::bigint
          as "sessionsAbandoned",
        coalesce(sum(count) filter (where fact = 'session_open'), 0)::bigint as "sessionsOpen"
      from metric_ledger
      where shop_id = ${shopId} and grain = 'day'
        and bucket >= ${new Date(first).toISOString()} and bucket < ${new Date(today).toISOString()}
      group by bucket`,
    sql<(Omit<Shift, 'amount'> & { readonly amount: string })[]>`
      select case grain when 'shift' then (date_part('epoch', bucket) * 1000)::bigint end as day,
        fact, count, round(amount * 10::numeric ^ ${priceDecimals}::int)::text as amount
      from metric_ledger
      where shop_id = ${shopId} and (grain = 'all'
          or grain = 'shift' and bucket > ${new Date(first).toISOString()})
        and (fact = 'subscriber' or fact like 'active %')
      order by bucket desc`,
  ]);

  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const after = shifts.map((each): Shift => ({ ...each, amount: BigInt(each.amount) }));
  let subscribers = 0;
  const values = new Map<IntervalText, bigint>();
  const move = ({ fact, count, amount }: Shift, sign: 1 | -1) => {
    if (!isActiveFact(fact)) subscribers += sign * count;
    else {
      const { interval } = partsOf(fact);
      values.set(interval, (values.get(interval) ?? 0n) + BigInt(sign) * amount);
    }
  };
  for (const each of after) if (each.day === null) move(each, 1);

  const dated = after.filter((each) => each.day !== null);
  const rows: DayRow[] = [];
  let next = 0;
  for (let at = today - day; at >= first; at -= day) {
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

/**
 * Whether there were at most `max` new subscriptions or status changes since an instant. Reads no
 * more rows.
 * @param since epoch milliseconds
 */
export async function hasFewChanges(
  sql: Sql,
  shopId: number,
  since: number,
  max: number,
): Promise<boolean> {
  const from = new Date(since).toISOString();
  const [row] = await sql<{ isFew: boolean }[]>`
    select count(*) <= ${max} as "isFew" from (
      (select from status_events where shop_id = ${shopId} and at >= ${from}
        order by at limit ${max + 1})
      union all
      (select from subscriptions where shop_id = ${shopId} and created_at >= ${from}
        order by created_at limit ${max + 1})
    ) changes`;
  return row?.isFew ?? true;
}
