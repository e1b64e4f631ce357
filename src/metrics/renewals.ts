import { type IntervalText, parseInterval } from '../mrr.ts';
import { isoTime } from '../iso-time.ts';
import { addInterval } from '../intervals.ts';
import { type Ratio, roundHalfAway, shopDigitsOf, unitsPerOne } from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type Period, day, boundsOf } from './bounds.ts';
import { endsOf, inUnits, keptOf, sumsOf } from './ledger.ts';

/** The subscriptions expected to renew in 7 × 24 hours. */
export interface RenewalWeek {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Each once, however often it renews in them. */
  readonly renewals: number;
  /** The exact sum of their prices. */
  readonly value: Ratio;
}

/** By UTC day, epoch milliseconds: the intervals of what is due first on it and renews in a week. */
export type Due = ReadonlyMap<number, ReadonlySet<IntervalText>>;

const week = 7 * day;
export const projectedWeeks = 8;

/** @param index of the week, from 0 */
export function projectedWeekOf(now: number, index: number): Period {
  return { from: now + index * week, until: now + (index + 1) * week };
}

interface DueRow {
  /** An instant at which they are due, or one that is in the same week for all of them. */
  readonly at: number;
  /** Where they are counted too, and should not be. */
  readonly exceptAt: number | null;
  readonly fact: `due ${IntervalText}`;
  readonly renewals: number;
  /** Sum of the prices, in units of the last decimal place of prices. */
  readonly value: string;
}

/**
 * The renewals of the next weeks, from the next billing date of each active subscription on, by its billing
 * interval (docs/decisions/0021-figures.md). The first week is the summary's. The cost does not grow
 * with the shop.
 * @param now epoch milliseconds
 */
export async function projectRenewals(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
): Promise<(RenewalWeek & { readonly due: Due })[]> {
  const rows = await listDue(sql, shopId, now);
  const counts = Array.from({ length: projectedWeeks }, () => 0);
  const values = Array.from({ length: projectedWeeks }, () => 0n);
  const due = Array.from({ length: projectedWeeks }, () => new Map<number, Set<IntervalText>>());
  const add = (row: DueRow, at: number, sign: 1 | -1) => {
    const interval = row.fact.slice(4) as IntervalText;
    const on = Math.floor(at / day) * day;
    for (const index of weeksOf(interval, at, now)) {
      due[index]?.set(on, (due[index].get(on) ?? new Set()).add(interval));
      counts[index] = (counts[index] ?? 0) + sign * row.renewals;
      values[index] = (values[index] ?? 0n) + BigInt(sign) * BigInt(row.value);
    }
  };
  for (const row of rows) {
    add(row, row.at, 1);
    if (row.exceptAt !== null) add(row, row.exceptAt, -1);
  }
  return counts.map((renewals, index) => ({
    from: projectedWeekOf(now, index).from,
    renewals,
    due: due[index] ?? new Map(),
    value: { numerator: values[index] ?? 0n, denominator: unitsPerOne },
  }));
}

/** In which of the weeks a subscription renews that is next due at an instant. */
export function weeksOf(interval: IntervalText, at: number, now: number): ReadonlySet<number> {
  const { unit, count } = parseInterval(interval);
  const weeks = new Set<number>();
  for (let cycle = 0; ; cycle += 1) {
    const index = Math.floor((addInterval(at, unit, cycle * count) - now) / week);
    if (index >= projectedWeeks) return weeks;
    weeks.add(index);
  }
}

/** What is due first within the weeks. Whole days, hours and minutes come from the ledger. */
async function listDue(sql: Sql | Transaction, shopId: number, now: number): Promise<DueRow[]> {
  const end = now + projectedWeeks * week;
  const parts = dayPartsOf(now, end);
  const [at, until] = [isoTime(now), isoTime(end)];
  const list = (field: keyof DayPart) => `{${parts.map((part) => part[field]).join(',')}}`;
  return sql<DueRow[]>`
    with kept as materialized (${keptOf(sql, shopId)}),
    parts as materialized (
      select part.* from kept
      join unnest(${list('at')}::timestamptz[], ${list('exceptAt')}::timestamptz[],
          ${list('day')}::timestamptz[], ${list('source')}::text[], ${list('from')}::timestamptz[],
          ${list('until')}::timestamptz[]) part (at, except_at, day, source, since, until)
        on case when kept.since <= part.day then part.source <> 'all' else part.source in ('day', 'all') end
    ),
    changing as (
      ${changingAfter(sql, shopId, at)}
    ),
    records as (
      select part.at, part.except_at, 1 as sign, s.* from parts part
      cross join lateral (
        select plan_id, own_interval_unit, own_interval_count, current_price, other_intervals
        from subscriptions
        where shop_id = ${shopId} and status = 'active'
          and next_billing_at >= part.since and next_billing_at < part.until
        order by next_billing_at offset 0
      ) s
      where part.source in ('records', 'all')
      union all
      -- The ledger counts subscriptions by their final status.
      select s.next_billing_at, null, s.sign, s.plan_id, s.own_interval_unit, s.own_interval_count,
        s.current_price, s.other_intervals
      from changing c
      cross join lateral (${renewalChange(sql, shopId, at, until)}) s
    ),
    due as (
      select part.at, part.except_at, l.* from parts part
      cross join lateral (
        select fact, count, amount from metric_ledger
        where shop_id = ${shopId} and grain = part.source
          and bucket >= part.since and bucket < part.until and fact like 'due %'
        offset 0
      ) l
      where part.source in ('day', 'hour', 'minute')
      union all
      select r.at, r.except_at, 'due ' || p.billed, r.sign,
        r.sign * price_at(r.current_price, r.other_intervals, p.billed)
      from records r
      cross join lateral (
        select coalesce(r.own_interval_unit, interval_unit) || ' '
          || coalesce(r.own_interval_count, interval_count) as billed
        from plans where shop_id = ${shopId} and plan_id = r.plan_id limit 1
      ) p
    )
    select (date_part('epoch', at) * 1000)::bigint as at,
      (date_part('epoch', except_at) * 1000)::bigint as "exceptAt", fact,
      sum(count)::bigint as renewals,
      ${inUnits(sql, 'sum(amount)')} as value
    from due
    group by at, except_at, fact
    having sum(count) <> 0 or sum(amount) <> 0`;
}

/** A week of renewals for showing: the value rounded once, in the shop's currency. */
export interface ProjectedWeek {
  /** ISO 8601. */
  readonly from: string;
  readonly renewals: number;
  readonly value: number;
}

export function toProjectedWeeks(weeks: readonly RenewalWeek[], currency: string): ProjectedWeek[] {
  return weeks.map(({ from, renewals, value }) => ({
    from: isoTime(from),
    renewals,
    value: roundHalfAway(value, shopDigitsOf(currency)),
  }));
}

const minute = 60_000;
const hour = 60 * minute;

/**
 * A part of a UTC day, and where it is read. Hours and minutes may not be kept for a day: then `all` of the part is
 * read from the records, instead of `hour`, `minute` and `records`. ISO 8601; includes `from`, excludes `until`.
 */
interface DayPart {
  readonly source: 'day' | 'hour' | 'minute' | 'records' | 'all';
  readonly from: string;
  readonly until: string;
  /** The start of the day. */
  readonly day: string;
  /** What stands for each instant in the part: it has the same date, and is on the same side of the time of `now`. */
  readonly at: string;
  /** What stands for the whole day, of which this part is to be taken away again; else empty. */
  readonly exceptAt: string;
}

/**
 * An interval of whole days of 24 hours, cut at midnight, UTC, and at the time of day of `now`: what is due in one part of a
 * day stays in the same week, however many months are added. The later part of a day is the day less its earlier part.
 * @param now, end epoch milliseconds
 */
function dayPartsOf(now: number, end: number): DayPart[] {
  const today = Math.floor(now / day) * day;
  const time = now - today;
  const [wholeHours, wholeMinutes] = [time - (time % hour), time - (time % minute)];
  const parts: DayPart[] = [];
  const add = (
    source: DayPart['source'],
    from: number,
    until: number,
    at: number,
    exceptAt?: number,
  ) => {
    if (from >= until) return;
    parts.push({
      source,
      from: isoTime(from),
      until: isoTime(until),
      day: isoTime(Math.floor(from / day) * day),
      at: isoTime(at),
      exceptAt: exceptAt === undefined ? 'NULL' : isoTime(exceptAt),
    });
  };
  const [nextMinute, nextHour] = [Math.ceil(now / minute) * minute, Math.ceil(now / hour) * hour];
  add('records', now, nextMinute, now);
  add('minute', nextMinute, nextHour, now);
  add('hour', nextHour, today + day, now);
  add('all', now, today + day, now);
  for (let start = today + day; start < end; start += day) {
    const from = start + time;
    const isLast = start + day > end;
    if (!isLast) add('day', start, start + day, from);
    const exceptAt = isLast ? undefined : from;
    add('hour', start, start + wholeHours, start, exceptAt);
    add('minute', start + wholeHours, start + wholeMinutes, start, exceptAt);
    add('records', start + wholeMinutes, from, start, exceptAt);
    add('all', start, from, start, exceptAt);
  }
  return parts;
}

/**
 * A part of a statement: the renewals of a coming window, which begins now. Reads the part `kept`. The ledger and
 * the index have them by the final status of subscriptions, so those that change later, which are very few, are
 * followed. Each is found by its last event, because removing duplicates would make the planner reserve too much
 * memory.
 */
export function renewing(sql: Sql | Transaction, shopId: number, window: Period) {
  const bounds = boundsOf(window.from, window.until);
  const [at, until] = [window.from, window.until].map(isoTime) as [string, string];
  const renewals = sql`fact = 'renewal'`;
  // Only lines with an interval of their own make it matter which one the subscription has.
  const price = sql`price_at(s.current_price, s.other_intervals, p.billed)`;
  const itsInterval = sql`
    left join lateral (
      select coalesce(s.own_interval_unit, interval_unit) || ' '
        || coalesce(s.own_interval_count, interval_count) as billed
      from plans where s.other_intervals is not null and shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p on true`;
  return sql`
    with ends as materialized (${endsOf(sql, bounds)}),
    changing as (
      select e.subscription_id
      from (
        select subscription_id, position from status_events
        where shop_id = ${shopId} and at > ${at} order by at offset 0
      ) e
      left join lateral (
        select true as is_followed from status_events
        where shop_id = ${shopId} and subscription_id = e.subscription_id
          and position > e.position
        order by position limit 1
      ) later on true
      where is_followed is null
      union all
      select s.subscription_id
      from (
        select subscription_id from subscriptions
        where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
      ) s
      left join lateral (
        select true as is_followed from status_events
        where shop_id = ${shopId} and subscription_id = s.subscription_id
        order by position limit 1
      ) later on true
      where is_followed is null
    )
    select at, count, amount from (${sumsOf(sql, shopId, bounds, renewals)}) sums
    union all
    select s.next_billing_at, 1, ${price} from ends e
    cross join lateral (
      select * from subscriptions
      where shop_id = ${shopId} and status = 'active'
        and next_billing_at >= e.since and next_billing_at < e.until
      order by next_billing_at offset 0
    ) s
    ${itsInterval}
    union all
    select s.next_billing_at, s.sign, s.sign * ${price}
    from changing c
    cross join lateral (${renewalChange(sql, shopId, at, until)}) s
    ${itsInterval}`;
}

/** The subscriptions that begin or change after an instant: what is stored of them is not yet so then. */
export const changingAfter = (sql: Sql | Transaction, shopId: number, at: string) => sql`
  (
    select subscription_id from status_events
    where shop_id = ${shopId} and at > ${at} order by at offset 0
  )
  union
  (
    select subscription_id from subscriptions
    where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
  )`;

/** The last change of the status of the subscription of `c` by an instant, as `seen`. */
export const statusBy = (sql: Sql | Transaction, shopId: number, at: string) => sql`
  left join lateral (
    select to_status from status_events
    where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= ${at}
    order by position desc limit 1
  ) seen on true`;

/**
 * How the subscription of `changing` called c differs from what the ledger has of its renewal in an interval: it counts
 * subscriptions by their final status.
 */
const renewalChange = (sql: Sql | Transaction, shopId: number, at: string, until: string) => sql`
  select next_billing_at, plan_id, own_interval_unit, own_interval_count, current_price, other_intervals,
    (status_since is not null and created_at <= ${at} and coalesce(seen.to_status, 'active') = 'active')::int
      - (status = 'active')::int as sign
  from subscriptions
  ${statusBy(sql, shopId, at)}
  where shop_id = ${shopId}
    and subscription_id between c.subscription_id and c.subscription_id
    and next_billing_at >= ${at} and next_billing_at < ${until}
  order by subscription_id limit 1`;
