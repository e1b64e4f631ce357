import { addInterval } from '../../intervals.ts';
import { type Ratio, roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type Period, day } from '../bounds.ts';
import { type IntervalText, parseInterval, priceDecimals } from '../facts.ts';
import { keptOf } from '../pieces.ts';
import { changingAfter, renewalChange } from '../renewals.ts';
import { type DayPart, dayPartsOf } from './day-parts.ts';

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
  /** Sum of the prices, in units of the sixth decimal place. */
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
    value: { numerator: values[index] ?? 0n, denominator: 10n ** BigInt(priceDecimals) },
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
  const [at, until] = [new Date(now).toISOString(), new Date(end).toISOString()];
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
        select plan_id, own_interval_unit, own_interval_count, current_price from subscriptions
        where shop_id = ${shopId} and status = 'active'
          and next_billing_at >= part.since and next_billing_at < part.until
        order by next_billing_at offset 0
      ) s
      where part.source in ('records', 'all')
      union all
      -- The ledger counts subscriptions by their final status.
      select s.next_billing_at, null, s.sign, s.plan_id, s.own_interval_unit, s.own_interval_count,
        s.current_price
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
      select r.at, r.except_at, 'due ' || coalesce(r.own_interval_unit, p.interval_unit) || ' '
        || coalesce(r.own_interval_count, p.interval_count), r.sign, r.sign * r.current_price
      from records r
      cross join lateral (
        select interval_unit, interval_count from plans
        where shop_id = ${shopId} and plan_id = r.plan_id limit 1
      ) p
    )
    select (date_part('epoch', at) * 1000)::bigint as at,
      (date_part('epoch', except_at) * 1000)::bigint as "exceptAt", fact,
      sum(count)::bigint as renewals,
      round(sum(amount) * ${10 ** priceDecimals}::int)::text as value
    from due
    group by at, except_at, fact
    having sum(count) <> 0`;
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
    from: new Date(from).toISOString(),
    renewals,
    value: roundHalfAway(value, shopDigitsOf(currency)),
  }));
}
