import type { Sql } from '../store/database.ts';
import { day } from './bounds.ts';
import { type ActiveFact, type ActiveValue, intervalOf, isActiveFact } from './facts.ts';

/** What is known of one UTC day once it has ended; sums are decimals as text. */
export interface DayRow {
  /** Its beginning, epoch milliseconds. */
  readonly day: number;
  /** At its end. */
  readonly activeSubscribers: number;
  /** At its end, by today's prices and intervals: those of then are not kept. */
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
  /** Units of the sixth decimal, since prices have fewer. */
  readonly amount: bigint;
}

const priceDecimals = 6;

/**
 * The last UTC days that have ended, oldest first. What holds at the end of a day is what holds once
 * all has happened, less what happens after that day.
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
  const state = new Map<Shift['fact'], { count: number; amount: bigint }>();
  const move = ({ fact, count, amount }: Shift, sign: 1 | -1) => {
    const held = state.get(fact) ?? { count: 0, amount: 0n };
    const moved = { count: held.count + sign * count, amount: held.amount + BigInt(sign) * amount };
    state.set(fact, moved);
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
      activeSubscribers: state.get('subscriber')?.count ?? 0,
      activeValue: [...state].flatMap(([fact, { amount }]) =>
        isActiveFact(fact) && amount !== 0n
          ? [{ ...intervalOf(fact), sum: decimalText(amount) }]
          : [],
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

/** The UTC day of the earliest fact, epoch milliseconds; null for a shop without any. */
export async function findFirstDay(sql: Sql, shopId: number): Promise<number | null> {
  const [row] = await sql<{ day: number | null }[]>`
    select (date_part('epoch', min(bucket)) * 1000)::bigint as day from metric_ledger
    where shop_id = ${shopId} and grain = 'day'`;
  return row?.day ?? null;
}

/**
 * Whether subscriptions have begun or changed at most so many times since an instant; reads no more.
 * @param since epoch milliseconds
 */
export async function hasFewChanges(
  sql: Sql,
  shopId: number,
  since: number,
  most: number,
): Promise<boolean> {
  const from = new Date(since).toISOString();
  const [row] = await sql<{ isFew: boolean }[]>`
    select count(*) <= ${most} as "isFew" from (
      (select from status_events where shop_id = ${shopId} and at >= ${from} limit ${most + 1})
      union all
      (select from subscriptions where shop_id = ${shopId} and created_at >= ${from}
        limit ${most + 1})
    ) changes`;
  return row?.isFew ?? true;
}

/** Of an amount of 0 or more. */
function decimalText(amount: bigint): string {
  const digits = amount.toString().padStart(priceDecimals + 1, '0');
  return `${digits.slice(0, -priceDecimals)}.${digits.slice(-priceDecimals)}`;
}
