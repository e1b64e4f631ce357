import type { OfSubscription } from './segments/subscriptions.ts';
import { type Period, isoDay, day, restOfTime, wholeDaysOf } from './bounds.ts';
import { isoTime } from '../iso-time.ts';
import { type ActiveValue, monthlyFactor } from '../mrr.ts';
import {
  type Ratio,
  add,
  multiply,
  priceDecimals,
  subtract,
  roundHalfAway,
  shopDigitsOf,
  zero,
  parseDecimal,
} from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import {
  type ActiveFact,
  type IntervalText,
  type Movement,
  isOutflow,
  movements,
  parseInterval,
  partsOf,
} from './facts.ts';
import { type Part, intervalsOf } from './ledger.ts';
import { type Position, type TimeOrder, orderOf } from '../store/records/listing.ts';
import { lookup } from '../store/lookup.ts';

interface Line {
  readonly label: string;
  readonly definition: string;
}

/** The lines of what changed the MRR, for owners: the value at the start, what came and left, and the value at the end. */
export const movementLines: Readonly<Record<'opening' | Movement | 'closing', Line>> = {
  opening: {
    label: 'At the start',
    definition:
      'Monthly recurring revenue when the period began, at today’s prices and intervals, because earlier ones are not stored.',
  },
  new: { label: 'New', definition: 'First subscriptions of customers.' },
  added: { label: 'Added', definition: 'Further subscriptions of customers who had one before.' },
  resumed: { label: 'Resumed', definition: 'Subscriptions that were paused and became active.' },
  reactivated: {
    label: 'Reactivated',
    definition: 'Subscriptions that had been cancelled, had expired or had failed, and came back.',
  },
  paused: { label: 'Paused', definition: 'Active subscriptions that were paused.' },
  cancelled: {
    label: 'Cancelled',
    definition: 'Active subscriptions that were cancelled.',
  },
  expired: { label: 'Expired', definition: 'Active subscriptions that reached their planned end.' },
  failed: {
    label: 'Failed',
    definition: 'Active subscriptions that ended because they were not paid.',
  },
  closing: {
    label: 'At the end',
    definition:
      'Monthly recurring revenue when the period ended: the start, plus what came, less what left.',
  },
};

type LineName = keyof typeof movementLines;
export const lineNames = ['opening', ...movements, 'closing'] as const;

/** Exact monthly values at the ends of a period, and of the movements in between; none is below 0. */
export type MovementValues = Readonly<Record<LineName, Ratio>>;

/** The same, rounded, in the shop's currency. */
export type Movements = { readonly currency: string } & Readonly<Record<LineName, number>>;

/** What changed the monthly value on a UTC day, of which an interval may have a part only. */
export interface MovementDay {
  /** For example 2026-11-20. */
  readonly day: string;
  readonly moved: readonly MovedValue[];
  /** What is active at its end, or at the end of the interval. */
  readonly closing: IntervalSums;
}

interface MovedValue {
  readonly interval: IntervalText;
  readonly movement: Movement;
  /** In units of the last decimal place of prices; below 0 for departures. */
  readonly amount: bigint;
}

/** Sums of prices by billing interval, in units of the last decimal place of prices. */
type IntervalSums = ReadonlyMap<IntervalText, bigint>;

/**
 * What changed the monthly value on each UTC day of an interval, and what it came to, at today's prices and
 * intervals. An end leaves out what happens exactly then. The cost does not grow with the shop, but with the number
 * of days and with the changes on the first and the last one.
 */
export async function listMovementDays(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
): Promise<MovementDay[]> {
  const { days, ends } = wholeDaysOf(from, until);
  const after = restOfTime(until);
  // Of the state at the end, no day. A row of sums for each day is received faster than a row for each sum.
  const rows = await sql<{ day: number | null; sums: Record<ActiveFact, string> }[]>`
    select (date_part('epoch', day) * 1000)::bigint as day, json_object_agg(fact, amount) as sums
    from (
      select day, fact, round(sum(amount) * 10::numeric ^ ${priceDecimals}::int)::text as amount
      from (
        select null::timestamptz as day, fact, amount from metric_ledger
        where shop_id = ${shopId} and grain = 'all' and fact like 'active %'
        union all
        select null, fact, -amount from metric_ledger
        where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
          and fact like 'active %'
        union all
        (
          select null, a.fact, -a.amount from (
            select active from subscriber_changes
            where shop_id = ${shopId} and at >= ${after.end[0]} and at < ${after.end[1]}
            order by at offset 0
          ) c
          cross join lateral unnest(c.active) a
        )
        union all
        select bucket, fact, amount from metric_ledger
        where shop_id = ${shopId} and grain = 'shift' and bucket >= ${days[0]} and bucket < ${days[1]}
          and fact like 'active %'
        union all
        select metric_day(c.at), a.fact, a.amount from (${intervalsOf(sql, ends)}) e
        cross join lateral (
          select at, active from subscriber_changes
          where shop_id = ${shopId} and at >= e.since and at < e.until
          order by at offset 0
        ) c
        cross join lateral unnest(c.active) a
      ) moved
      group by day, fact
    ) summed
    group by day`;
  const byDay = new Map(rows.map(({ day: at, sums }) => [at, movedValuesOf(sums)]));
  const movedOn = (at: number | null) => byDay.get(at) ?? [];
  let closing = sumsWith(new Map(), movedOn(null), 1n);
  const found: MovementDay[] = [];
  const first = Math.floor(from / day) * day;
  // Of an interval without length, the day that it is on.
  for (let at = Math.max(Math.floor((until - 1) / day) * day, first); at >= first; at -= day) {
    const moved = movedOn(at);
    found.push({ day: isoDay(at), moved, closing });
    closing = sumsWith(closing, moved, -1n);
  }
  return found.toReversed();
}

function movedValuesOf(sums: Readonly<Record<ActiveFact, string>>): MovedValue[] {
  return Object.entries(sums).map(([fact, amount]) => ({
    ...partsOf(fact as ActiveFact),
    amount: BigInt(amount),
  }));
}

function sumsWith(sums: IntervalSums, moved: readonly MovedValue[], sign: bigint): IntervalSums {
  const all = new Map(sums);
  for (const { interval, amount } of moved) {
    all.set(interval, (all.get(interval) ?? 0n) + sign * amount);
  }
  return all;
}

/** The movements of consecutive days, of which there is at least one: opening + arrivals - departures = closing. */
export function movementsOf(days: readonly MovementDay[]): MovementValues {
  const { closing } = days.at(-1) as MovementDay;
  const moved = days.flatMap((each) => each.moved);
  const byMovement = Map.groupBy(moved, ({ movement }) => movement);
  const values = movements.map((movement) => {
    const sign = isOutflow(movement) ? -1n : 1n;
    const sums = sumsWith(new Map(), byMovement.get(movement) ?? [], sign);
    return [movement, monthlyValueOf(sums)] as const;
  });
  return {
    opening: monthlyValueOf(sumsWith(closing, moved, -1n)),
    ...(Object.fromEntries(values) as Record<Movement, Ratio>),
    closing: monthlyValueOf(closing),
  };
}

/** The monthly value at the end of a day. */
export function closingOf({ closing }: MovementDay): Ratio {
  return monthlyValueOf(closing);
}

/** The movements of a whole interval. */
export async function summariseMovements(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
): Promise<MovementValues> {
  return movementsOf(await listMovementDays(sql, shopId, period));
}

function monthlyValueOf(sums: IntervalSums): Ratio {
  return [...sums].reduce((total, [interval, amount]) => {
    const { unit, count } = parseInterval(interval);
    const value = { numerator: amount, denominator: 10n ** BigInt(priceDecimals) };
    return add(total, multiply(value, monthlyFactor(unit, count)));
  }, zero);
}

/** Rounds each value once. @param currency the shop's, ISO 4217 */
export function toMovements(values: MovementValues, currency: string): Movements {
  const money = (value: Ratio) => roundHalfAway(value, shopDigitsOf(currency));
  const rounded = lineNames.map((name) => [name, money(values[name])]);
  return { currency, ...(Object.fromEntries(rounded) as Record<LineName, number>) };
}

/** A subscription that became active, or no longer is. */
export interface MovedRow extends OfSubscription, Omit<ActiveValue, 'sum'> {
  readonly movement: Movement;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Of a billing cycle, a decimal. */
  readonly price: string;
  /** What of it is billed at other intervals. */
  readonly otherIntervals: Readonly<Record<IntervalText, string>> | null;
}

/** What a movement changed the monthly value by, exactly; below 0 for departures. */
export function monthlyChangeOf({ movement, price, unit, count, otherIntervals }: MovedRow): Ratio {
  const others = Object.entries(otherIntervals ?? {}) as [IntervalText, string][];
  const own = others.reduce(
    (rest, [, sum]) => subtract(rest, parseDecimal(sum)),
    parseDecimal(price),
  );
  const value = others.reduce(
    (total, [interval, sum]) => {
      const { unit: each, count: cycles } = parseInterval(interval);
      return add(total, multiply(parseDecimal(sum), monthlyFactor(each, cycles)));
    },
    multiply(own, monthlyFactor(unit, count)),
  );
  return isOutflow(movement) ? { ...value, numerator: -value.numerator } : value;
}

/** What statuses are left for: a departure is the status itself, an arrival is active. */
const statusesOf = (names: readonly Movement[]) =>
  `{${names.map((name) => (isOutflow(name) ? name : 'active')).join(',')}}`;

const begins = (name: Movement) => name === 'new' || name === 'added';

/**
 * The subscriptions behind the movements of a period, as listMovementDays counts them, by when they moved, then by id.
 * Of several changes at one instant, only what they come to.
 * @param page.names which movements; all of them if it is left out
 * @param page.order the last to move first, if it is left out
 * @param page.after the last row of the page before: when it moved, as `createdAt`, and its subscription
 */
export function listMoved(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  page: {
    readonly names?: readonly Movement[];
    readonly order?: TimeOrder;
    readonly after: Position | undefined;
    readonly limit: number;
  },
): Promise<MovedRow[]> {
  const { names = movements, order = 'newest', after, limit } = page;
  const { than, thanOrAt, by } = orderOf(sql, order);
  const [since, end] = [isoTime(from), isoTime(until)];
  /** The rows after the last one of the page before. */
  const beyond = (at: Part, id: Part) =>
    after ? sql`(${at}, ${id}) ${than} (${isoTime(after.createdAt)}, ${after.id})` : sql`true`;
  const beyondBegan = beyond(sql`created_at`, sql`subscription_id`);
  const beyondConverted = beyond(sql`trial_ends_at`, sql`subscription_id`);
  const beyondChanged = beyond(sql`e.at`, sql`e.subscription_id`);
  const notBefore = after ? sql`at ${thanOrAt} ${isoTime(after.createdAt)}` : sql`true`;
  const wanted = `{${names.join(',')}}`;
  /** Whether the customer of `s` had a subscription before it. */
  const itsCustomer = (condition: Part) => sql`
    left join lateral (
      select true as is_known from subscriptions
      where ${condition} and shop_id = ${shopId}
        and customer_id between s.customer_id and s.customer_id
        and (created_at, subscription_id) < (s.created_at, s.subscription_id)
      order by customer_id limit 1
    ) customer on true`;
  const ofAll = itsCustomer(sql`true`);
  const ofTrials = itsCustomer(sql`s.trial_ends_at is not null`);
  const began = sql`
    select s.*, s.created_at as at
    from (
      select * from subscriptions
      where shop_id = ${shopId} and created_at >= ${since} and created_at < ${end}
        and ${beyondBegan}
      order by created_at ${by}, subscription_id ${by} offset 0
    ) s
    where (s.trial_ends_at > s.created_at) is not true`;
  const converted = sql`
    select s.*, s.trial_ends_at as at
    from (
      select * from subscriptions
      where shop_id = ${shopId} and trial_ends_at >= ${since} and trial_ends_at < ${end}
        and ${beyondConverted}
      order by trial_ends_at ${by} offset 0
    ) s
    where s.trial_ends_at > s.created_at`;
  /** Those that are active once they begin to be worth something, as rows `s`: the first of its customer is new. */
  const beginning = (subscriptions: Part) => sql`
    (
      select s.*, v.movement
      from (${subscriptions}) s
      left join lateral (
        select to_status from status_events
        where shop_id = ${shopId} and subscription_id = s.subscription_id and at <= s.at
        order by position desc limit 1
      ) became on true
      ${ofAll}
      cross join lateral (
        values (case when customer.is_known then 'added' else 'new' end)
      ) v (movement)
      where s.status_since is not null and coalesce(became.to_status, 'active') = 'active'
        and v.movement = any (${wanted}::text[])
      order by s.at ${by}, s.subscription_id ${by} limit ${names.some(begins) ? limit : 0}
    )`;
  const changed = sql`
    select s.*, e.at, v.movement
    from (
      select subscription_id, position, at, to_status from status_events
      where shop_id = ${shopId} and at >= ${since} and at < ${end} and ${notBefore}
        and to_status = any (${statusesOf(names)}::text[])
      order by at ${by} offset 0
    ) e
    left join lateral (
      select at from status_events
      where shop_id = ${shopId} and subscription_id = e.subscription_id and position > e.position
      order by position limit 1
    ) next on true
    left join lateral (
      select to_status from status_events
      where shop_id = ${shopId} and subscription_id = e.subscription_id
        and position < e.position and at < e.at
      order by position desc limit 1
    ) past on true
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'e.subscription_id')} s
    -- After its trial, the first time that it is active is when it begins: it has left active since if that was before.
    left join lateral (
      select true as is_there from (
        select from_status, at, lag(at) over (order by position) as previous from status_events
        where s.trial_ends_at is not null and e.to_status = 'active'
          and shop_id = ${shopId} and subscription_id = e.subscription_id and position < e.position
      ) d
      where d.from_status = 'active' and d.at > greatest(s.trial_ends_at, s.created_at) and d.at < e.at
        and d.previous is distinct from d.at
      limit 1
    ) earlier on true
    ${ofTrials}
    cross join lateral (
      values (case when e.to_status <> 'active' then e.to_status
        when s.trial_ends_at is not null and earlier.is_there is null
          then case when customer.is_known then 'added' else 'new' end
        when past.to_status = 'paused' then 'resumed' else 'reactivated' end)
    ) v (movement)
    where next.at is distinct from e.at and e.at > s.created_at
      and (e.at <= s.trial_ends_at) is not true and s.status_since is not null
      and (e.to_status = 'active') <> (coalesce(past.to_status, 'active') = 'active')
      and v.movement = any (${wanted}::text[])
      and ${beyondChanged}
    order by e.at ${by}, e.subscription_id ${by} limit ${limit}`;
  return sql<MovedRow[]>`
    select m.subscription_id as "subscriptionId", m.customer_id as "customerId",
      m.plan_id as "planId", p.name as "planName", m.movement,
      (date_part('epoch', m.at) * 1000)::bigint as at,
      coalesce(m.own_interval_unit, p.interval_unit) as unit,
      coalesce(m.own_interval_count, p.interval_count) as count, m.current_price as price,
      m.other_intervals as "otherIntervals"
    from (${beginning(began)} union all ${beginning(converted)} union all (${changed})) m
    cross join lateral (
      select name, interval_unit, interval_count from plans
      where shop_id = ${shopId} and plan_id = m.plan_id limit 1
    ) p
    order by m.at ${by}, m.subscription_id ${by}
    limit ${limit}`;
}
