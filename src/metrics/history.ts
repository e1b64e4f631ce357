import { isoTime } from '../iso-time.ts';
import { type Ratio, shopDigitsOf, roundHalfAway } from '../money.ts';
import type { ReadConnections } from '../store/connections/read-connections.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { findValuesSince } from '../store/records/export-pages.ts';
import { type Period, day, isoDay, restOfTime } from './bounds.ts';
import { type MetricsRow, activeValuesOf, counts } from './facts.ts';
import { monthlyValue, type IntervalText } from '../mrr.ts';
import { type DayOfHistory, revenueOf } from './figures.ts';
import { type MovementDay, listMovementDays } from './movements.ts';
import {
  changesIn,
  corrections,
  endsOf,
  failingAgain,
  happened,
  keptOf,
  scopeOf,
  state,
  superseded,
} from './ledger.ts';

/**
 * The UTC days of a period, oldest first; the first and the last one end with the period if it does not hold all of
 * them. Of new subscribers, cancelled, revenue, failed and recovered payments and sessions, the days add up to the
 * period's figures (revenue before rounding). The state at the end of a day leaves out what happens exactly then.
 */
export async function listHistory(
  store: Pick<ReadConnections, 'analyse'>,
  shop: { readonly id: number; readonly currency: string },
  period: Period,
): Promise<DayOfHistory[]> {
  return toHistory(await listDays(store.analyse, shop.id, period), shop.currency);
}

/** Rounds each amount once. @param currency the shop's, ISO 4217 */
export function toHistory(rows: readonly DayRow[], currency: string): DayOfHistory[] {
  const minorDigits = shopDigitsOf(currency);
  const money = (value: Ratio) => roundHalfAway(value, minorDigits);
  return rows.map((row) => ({
    day: isoDay(row.day),
    activeSubscribers: row.activeSubscribers,
    mrr: money(monthlyValue(row.activeValue)),
    newSubscribers: row.newSubscribers,
    cancelled: row.cancelled,
    revenue: money(revenueOf(row)),
    failedPayments: row.failedPayments,
    recoveredPayments: row.dunningRecovered,
    sessions: {
      saved: row.sessionsSaved,
      cancelled: row.sessionsCancelled,
      abandoned: row.sessionsAbandoned,
      inProgress: row.sessionsOpen,
    },
  }));
}

const dayCounts = [
  'newSubscribers',
  'cancelled',
  'failedPayments',
  'dunningRecovered',
  'sessionsSaved',
  'sessionsCancelled',
  'sessionsAbandoned',
  'sessionsOpen',
] as const;

/** What happened on a UTC day of a period. */
export interface DaySums extends Pick<
  MetricsRow,
  (typeof dayCounts)[number] | 'paid' | 'refunded'
> {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
}

/** The same, and what was active at the end of the day, or of the period. */
export interface DayRow extends DaySums, Pick<MetricsRow, 'activeSubscribers' | 'activeValue'> {}

/** What was active at the end of a period, or changed that on a day. */
export interface Shift {
  /** Start of the day, epoch milliseconds; null for the state at the end of the period. */
  readonly day: number | null;
  /** Of active subscriptions; null for subscribers. */
  readonly interval: IntervalText | null;
  readonly count: number;
  /** A whole number, in units of the last decimal place of prices. */
  readonly amount: string;
}

/**
 * The UTC days of a period, oldest first; the first and the last may be partial. As in the period's figures, what
 * happened is seen from its end: what was cancelled and came back, or failed again, in the period counts on the day
 * on which it was cancelled or failed last.
 * @param moved what changed the value of what was active, which other figures of a page need, too
 */
export async function listDays(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  moved: Promise<readonly MovementDay[]> = listMovementDays(sql, shopId, period),
): Promise<DayRow[]> {
  const [events, subscribers, movementDays] = await Promise.all([
    listEvents(sql, shopId, period),
    listShifts(sql, shopId, period),
    moved,
  ]);
  const closingOn = new Map(movementDays.map((each) => [each.day, each.closing]));
  return toDays(period, events, subscribers).map((row) => ({
    ...row,
    activeValue: activeValuesOf(closingOn.get(isoDay(row.day)) ?? new Map()),
  }));
}

const nothing = {
  ...(Object.fromEntries(dayCounts.map((name) => [name, 0])) as Record<
    (typeof dayCounts)[number],
    number
  >),
  paid: '0',
  refunded: '0',
};

/** The days of a period. */
export function toDays(
  period: Period,
  events: readonly DaySums[],
  shifts: readonly Shift[],
): DayRow[] {
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const shiftsByDay = Map.groupBy(shifts, (each) => each.day);
  let subscribers = 0;
  const values = new Map<IntervalText, bigint>();
  const move = (at: number | null, sign: 1 | -1) => {
    for (const { interval, count, amount } of shiftsByDay.get(at) ?? []) {
      if (interval === null) subscribers += sign * count;
      else values.set(interval, (values.get(interval) ?? 0n) + BigInt(sign) * BigInt(amount));
    }
  };
  move(null, 1);

  const first = Math.floor(period.from / day) * day;
  const last = Math.floor((period.until - 1) / day) * day;
  const rows: DayRow[] = [];
  for (let at = last; at >= first; at -= day) {
    rows.push({
      ...nothing,
      ...eventsByDay.get(at),
      day: at,
      activeSubscribers: subscribers,
      activeValue: activeValuesOf(values),
    });
    move(at, -1);
  }
  return rows.toReversed();
}

/** What happened on each day; days without anything have no row. */
function listEvents(sql: Sql | Transaction, shopId: number, period: Period) {
  const scope = scopeOf(shopId, period);
  return sql<DaySums[]>`
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

/** The beginning of a statement: the sums of facts, grouped by their day. */
export function sumsByDay(sql: Sql | Transaction) {
  const columns = dayCounts.map((name) => {
    const [alias, facts] = [sql.unsafe(`"${name}"`), `{${counts[name].join(',')}}`];
    return sql`coalesce(sum(count) filter (where fact = any (${facts}::text[])), 0)::bigint as ${alias}`;
  });
  const all = columns.reduce((before, each) => sql`${before}, ${each}`);
  return sql`
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day,
      coalesce(sum(amount) filter (where fact = 'paid'), 0) as paid,
      coalesce(sum(amount) filter (where fact = 'refunded'), 0) as refunded,
      ${all}`;
}

/** The subscribers at the end of the period, and how they changed on each of its days but the first. */
function listShifts(sql: Sql | Transaction, shopId: number, period: Period): Promise<Shift[]> {
  const scope = scopeOf(shopId, period);
  const after = restOfTime(period.until);
  const second = isoTime((Math.floor(period.from / day) + 1) * day);
  return sql<Shift[]>`
    with changed_after as materialized (${changesIn(sql, shopId, after.end)})
    select (date_part('epoch', day) * 1000)::bigint as day, null as interval, count, '0' as amount
    from (
      select null::timestamptz as day, sum(count)::bigint as count
      from (${state(sql, scope, after)}) s
      where fact = 'subscriber'
      union all
      select bucket, sum(count)::bigint
      from metric_ledger
      where shop_id = ${shopId} and grain = 'shift' and bucket >= ${second} and bucket < ${after.days}
        and fact = 'subscriber'
      group by 1
      union all
      -- What is later than the period is not taken back from its last day.
      select metric_day(at), -sum(subscriber) from changed_after group by 1
    ) shifts
    where count is not null`;
}

/**
 * The UTC day of the earliest fact, epoch milliseconds; null if there are none. Sources may have any text for a next
 * billing date, such as 1970-01-01 for none.
 */
export async function findFirstDay(sql: Sql, shopId: number): Promise<number | null> {
  const [row] = await sql<{ day: number }[]>`
    select (date_part('epoch', bucket) * 1000)::bigint as day from metric_ledger
    where shop_id = ${shopId} and grain = 'day' and fact <> 'renewal' and fact not like 'due %'
    order by bucket limit 1`;
  return row?.day ?? null;
}

/** From when on changes of a shop's prices are known, epoch milliseconds; before that, the first known ones count. */
export async function findPricesSince(sql: Sql, shopId: number): Promise<number> {
  const since = await findValuesSince(sql, shopId);
  return since?.getTime() ?? 0;
}
