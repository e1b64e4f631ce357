import { isoTime } from '../iso-time.ts';
import { unitsPerOne } from '../money.ts';
import type { Query } from '../store/connections/query.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type FactSum, type RowFact, rowFacts } from './facts.ts';
import {
  type Bounds,
  type Interval,
  type Period,
  type restOfTime,
  type SignedInterval,
  boundsOf,
  lastBefore,
  day,
} from './bounds.ts';

/*
 * Parts of the statements for figures and history. They read the parts `kept`, `ends`, `superseded` and
 * `changed_after` by name. Each look-up asks for the order of the one index that must serve it (docs/decisions/0005-plans-and-statements.md).
 */

/** What the figures are about. Times are ISO 8601. */
export interface Scope {
  readonly shopId: number;
  /** The instant of which the state is, and what happens then is in it: the last of the period, or now. */
  readonly at: string;
  /** The start of the period. */
  readonly since: string;
  readonly bounds: Bounds;
}

type Connection = Sql | Transaction;
/** A part of a statement. */
export type Part = Query<Record<string, unknown>[]>;

/** Amounts as whole numbers, in text. A power, instead of the number, would be raised for each row. */
export const inUnits = (sql: Connection, amount: 'amount' | 'sum(amount)' | 'sum(change)') =>
  sql.unsafe(`round(${amount} * ${unitsPerOne})::text`);

export function scopeOf(shopId: number, { from, until }: Period, at = lastBefore(until)): Scope {
  return { shopId, since: isoTime(from), at, bounds: boundsOf(from, until) };
}

/** What happened in the period. What is read row by row has the start of its part of a day. */
export function happened(sql: Connection, { shopId, bounds }: Scope) {
  const past = sql`fact <> 'renewal'`;
  return sql`
  ${sumsOf(sql, shopId, bounds, past)}
  union all
  select v.fact, changed.day, v.count, 0
  from (
    select metric_day(e.since) as day, sum(new_subscriber) as new_subscriber,
      sum(cancelled) as cancelled, sum(churned) as churned, sum(expired) as expired
    from ends e
    cross join lateral (
      select * from subscriber_changes
      where shop_id = ${shopId} and at >= e.since and at < e.until order by at offset 0
    ) c
    group by metric_day(e.since)
  ) changed
  cross join lateral (values ('new_subscriber', new_subscriber), ('cancelled', cancelled),
    ('churned', churned), ('expired', expired)) v (fact, count)
  ${rowsAtEnds(sql, shopId, rowFacts)}`;
}

/** The end of a union: the facts of rows at the ends of a period. */
function rowsAtEnds(sql: Connection, shopId: number, facts: readonly RowFact[]) {
  return facts.reduce(
    (before, { fact, table, at, amount = '0', where = 'true' }) => {
      const time = sql.unsafe(at);
      return sql`${before}
      union all
      select r.fact, e.since, 1, r.amount from ends e
      cross join lateral (
        select ${sql.unsafe(fact)} as fact, ${sql.unsafe(amount)} as amount from ${sql.unsafe(table)}
        where shop_id = ${shopId} and ${time} >= e.since and ${time} < e.until
          and ${sql.unsafe(where)}
        order by ${time} offset 0
      ) r`;
    },
    sql``,
  );
}

interface DaySum extends FactSum {
  /** Start of the UTC day, epoch milliseconds. */
  readonly day: number;
}

/**
 * The sums of some facts of rows in a period, by UTC day. The cost grows with the number of days, and with the rows of
 * less than a minute at both ends.
 */
export function listRowSums(
  sql: Connection,
  shopId: number,
  { from, until }: Period,
  tables: readonly (typeof rowFacts)[number]['table'][],
): Promise<DaySum[]> {
  const bounds = boundsOf(from, until);
  const facts = rowFacts.filter(({ table }) => tables.includes(table));
  const names = `{${facts.flatMap((each) => each.names).join(',')}}`;
  const only = sql`fact = any (${names}::text[])`;
  return sql<DaySum[]>`
    with kept as materialized (${keptOf(sql, shopId)}),
    ends as materialized (${endsOf(sql, bounds)})
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day, fact,
      sum(count)::bigint as count, sum(amount) as amount
    from (
      ${sumsOf(sql, shopId, bounds, only)}
      ${rowsAtEnds(sql, shopId, facts)}
    ) facts
    group by 1, 2
    order by 1`;
}

/** What held at an instant, or failed around it, until something followed. */
export const superseded = (sql: Connection, shopId: number, at: string) => sql`
  select f.* from (${reachesOf(sql, at)}) r
  cross join lateral (
    select subscription_id, fact, cycle, until, since, began_at, left_as, final
    from superseded_facts
    where shop_id = ${shopId} and reach = r.reach
      and until >= ${at} and until <= r.until and since <= ${at}
    order by until offset 0
  ) f`;

/** A cycle counts at its last failure; if that is after the period, the last one in the period counts. */
export const failingAgain = (sql: Connection, { shopId, since, at }: Scope) => sql`
  select 'cycle_failed' as fact, s.failed_at as at, 1 as count, 0 as amount
  from (
    select *, case when began_at < ${at} then began_at else since end as failed_at from superseded
    where fact = 'cycle_failed' and since < ${at}
  ) s
  -- The first failure of a day may be before a period that starts and ends on that day.
  left join lateral (
    select true as failed_in_period from payments p
    where s.failed_at < ${since} and s.failed_at = s.began_at
      and p.shop_id = ${shopId}
      and p.subscription_id between s.subscription_id and s.subscription_id
      and p.cycle = s.cycle and p.processed_at >= ${since} and p.processed_at < ${at}
      and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
    order by p.subscription_id, p.processed_at limit 1
  ) later on true
  where s.failed_at >= ${since} or failed_in_period`;

/** What changed in an interval, such as the rest of a day. */
export const changesIn = (sql: Connection, shopId: number, [from, until]: Interval) => sql`
  select at, subscriber, paused_subscriber, paused_undated, live, trial, trial_amount, active
  from subscriber_changes
  where shop_id = ${shopId} and at >= ${from} and at < ${until} order by at offset 0`;

/**
 * The state at the scope's instant: the final state, minus all changes after it.
 * @param after what is left of time after it
 */
export const state = (
  sql: Connection,
  { shopId, at }: Scope,
  after: ReturnType<typeof restOfTime>,
) => sql`
  select fact, count, amount from metric_ledger
  where shop_id = ${shopId} and grain = 'all'
  union all
  select fact, -count, -amount from metric_ledger
  where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
  union all
  select v.fact, -v.count, -v.amount
  from (
    select sum(subscriber) as subscriber, sum(paused_subscriber) as paused, sum(live) as live,
      sum(paused_undated) as undated, sum(trial) as trial, sum(trial_amount) as trial_amount
    from changed_after
  ) c
  cross join lateral (values ('subscriber', subscriber, 0), ('paused_subscriber', paused, 0),
    ('paused_undated', undated, 0), ('live', live, 0), ('trial', trial, trial_amount)) v (fact, count, amount)
  union all
  select a.fact, -a.count, -a.amount from changed_after c cross join lateral unnest(c.active) a
  union all
  (
    select 'dunning_open', -1, 0 from dunning_cases
    where shop_id = ${shopId} and opened_at >= ${after.end[0]} and opened_at < ${after.end[1]}
    order by opened_at offset 0
  )
  union all
  (
    select 'dunning_open', 1, 0 from dunning_cases
    where shop_id = ${shopId} and closed_at >= ${after.end[0]} and closed_at < ${after.end[1]}
    order by closed_at offset 0
  )
  union all
  -- Churn risk is determined just before it.
  select 'live', -c.live, 0
  from (
    select live from subscriber_changes
    where shop_id = ${shopId} and at >= ${at} and at <= ${at} order by at offset 0
  ) c`;

/**
 * Of subscriptions that changed at the scope's instant or later: what held then, minus what the ledger has, which
 * counts them by their final status. Being `gone` only says that they were live in the period, or just before.
 */
export const corrections = (sql: Connection, { at, since }: Scope) => sql`
  select v.fact, v.at, v.count, 0 as amount
  from (
    select *, until > ${at} and fact in ('cancelled', 'failed') as is_churned from superseded
    where fact <> 'cycle_failed' and since < ${at}
  ) s
  cross join lateral (values
    ('cancelled', s.since, (s.until > ${at} and s.fact = 'cancelled')::int),
    ('churned', s.began_at, s.is_churned::int - (s.final not in ('', 'expired'))::int),
    ('expired', s.began_at, -(s.final = 'expired')::int),
    ('gone', s.began_at, 1 - s.is_churned::int)
  ) v (fact, at, count)
  where v.at >= ${since} and v.count <> 0`;

/** From when on hours and minutes are stored; the parts below read it as `kept`. */
export const keptOf = (sql: Sql | Transaction, shopId: number) => sql`
  select coalesce(max(hours_since), 'infinity') as since from metric_shops
  where shop_id = ${shopId}`;

/** The sums of some facts in the whole days, hours and minutes of an interval, as far as they are stored. */
export function sumsOf(sql: Connection, shopId: number, { pieces }: Bounds, only: Part) {
  const list = (field: keyof (typeof pieces)[number]) =>
    `{${pieces.map((piece) => piece[field]).join(',')}}`;
  return sql`
    select l.* from kept
    join unnest(${list('grain')}::text[], ${list('from')}::timestamptz[],
      ${list('until')}::timestamptz[]) piece (grain, since, until)
      on piece.grain = 'day' or kept.since <= piece.since
    cross join lateral (
      select fact, bucket as at, count, amount from metric_ledger
      where shop_id = ${shopId} and grain = piece.grain
        and bucket >= piece.since and bucket < piece.until
      offset 0
    ) l
    where ${only}`;
}

/** The remainders of an interval: shorter than a minute, or parts of days if nothing smaller is stored. */
export function endsOf(sql: Sql | Transaction, { ends }: Bounds) {
  const list = (field: keyof (typeof ends)[number]) =>
    `{${ends.map((end) => end[field]).join(',')}}`;
  return sql`
    select e.since, e.until from kept
    join unnest(${list('isFine')}::boolean[], ${list('from')}::timestamptz[],
      ${list('until')}::timestamptz[]) e (is_fine, since, until)
      on e.is_fine = (kept.since <= e.since)`;
}

/** Some intervals as rows. */
export function intervalsOf(sql: Sql | Transaction, intervals: readonly Interval[]) {
  const list = (end: 0 | 1) => `{${intervals.map((each) => each[end]).join(',')}}`;
  return sql`
    select * from unnest(${list(0)}::timestamptz[], ${list(1)}::timestamptz[]) e (since, until)`;
}

/** Some intervals as rows, with their signs. */
export function signedIntervalsOf(sql: Sql | Transaction, signed: readonly SignedInterval[]) {
  const list = (end: 0 | 1) => `{${signed.map(({ interval }) => interval[end]).join(',')}}`;
  const signs = `{${signed.map(({ sign }) => sign).join(',')}}`;
  return sql`
    select * from unnest(${list(0)}::timestamptz[], ${list(1)}::timestamptz[], ${signs}::integer[])
      e (since, until, sign)`;
}

/** The lengths, in days, by which superseded facts are told apart (superseded_reach); the last has no limit. */
export const reaches = [1, 4, 16, 64, 256, 1024, 32_767] as const;

/** Each length, and until when what contains an instant can reach. */
function reachesOf(sql: Sql | Transaction, at: string) {
  const until = reaches.map((days, index) =>
    index + 1 === reaches.length ? 'infinity' : isoTime(Date.parse(at) + days * day),
  );
  const [lengths, ends] = [reaches, until].map((each) => `{${each.join(',')}}`) as [string, string];
  return sql`
    select * from unnest(${lengths}::smallint[], ${ends}::timestamptz[]) r (reach, until)`;
}
