import type { OfSubscription } from './segments/subscriptions.ts';
import { isoTime } from '../iso-time.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type Position, keyset, orderOf } from '../store/records/listing.ts';
import { type Period, boundsOf, day } from './bounds.ts';
import { endsOf, keptOf, sumsOf, superseded, type Part } from './ledger.ts';
import type { DetectedReason } from '../vocabulary.ts';
import { each, lookup } from '../store/lookup.ts';
import { itsPlan, worthUntil } from '../store/records/subscriptions.ts';

/** Why a subscription left: cancelled, or lost to failed payments. */
export type ChurnCause = 'cancelled' | 'failed';

/** How many subscriptions left for good on a UTC day. */
export interface ChurnDay extends Readonly<Record<ChurnCause, number>> {
  /** Start of the day, epoch milliseconds. */
  readonly day: number;
}

/** What a figure of the past is about; `until` is at most `now`. */
export interface Window extends Period {
  /** Anything dated later is ignored. */
  readonly now: number;
}

/**
 * The subscriptions that left in a window and had not come back by now, by the UTC day on which they left; days
 * without any have no row. The cost grows with the number of days.
 */
export async function listChurnDays(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
): Promise<ChurnDay[]> {
  const { from, until, now } = seenIn(window);
  const bounds = boundsOf(from, until);
  const at = isoTime(now);
  const losses = sql`fact in ('churned', 'churned_failed')`;
  return sql<ChurnDay[]>`
    with kept as materialized (${keptOf(sql, shopId)}),
    ends as materialized (${endsOf(sql, bounds)}),
    superseded as materialized (${superseded(sql, shopId, at)}),
    churned as (
      select at, case when fact = 'churned' then count else 0 end as count,
        case when fact = 'churned_failed' then count else 0 end as failed
      from (${sumsOf(sql, shopId, bounds, losses)}) sums
      union all
      select c.at, c.churned, c.churned_failed from ends e
      cross join lateral (
        select at, churned, churned_failed from subscriber_changes
        where shop_id = ${shopId} and at >= e.since and at < e.until order by at offset 0
      ) c
      union all
      -- The ledger counts subscriptions by their final status: what holds now replaces it.
      select s.began_at, s.sign, s.sign * (s.left_as = 'failed')::int
      from (
        select began_at, left_as,
          (fact in ('cancelled', 'failed'))::int - (final not in ('', 'expired'))::int as sign
        from superseded where fact <> 'cycle_failed' and until > ${at}
      ) s
      where s.began_at >= ${isoTime(from)} and s.began_at < ${isoTime(until)}
    )
    select (date_part('epoch', metric_day(at)) * 1000)::bigint as day,
      sum(count - failed)::bigint as cancelled, sum(failed)::bigint as failed
    from churned
    group by metric_day(at)
    having sum(count) <> 0
    order by 1`;
}

/**
 * The beginning of a statement. The table of departures has the final status of subscriptions: `changed` are the
 * subscriptions that had left by now and changed later. What holds now (sign 1) replaces what the table has (sign -1).
 */
const changedLater = (sql: Sql | Transaction, shopId: number, { from, until, now }: Window) => sql`
  superseded as materialized (${superseded(sql, shopId, isoTime(now))}),
  changed as materialized (
    select c.subscription_id, c.began_at as left_at, v.sign,
      case when c.left_as = 'failed' then 'failed' else 'cancelled' end as cause, s.plan_id,
      floor(date_part('epoch', c.began_at - s.created_at) / 86400)::integer as age_days,
      ${worthUntil(sql, 'c.began_at')} as value
    from superseded c
    cross join lateral (values
      (1, fact in ('cancelled', 'failed')), (-1, final not in ('', 'expired'))
    ) v (sign, counts)
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s ${itsPlan(sql, shopId)}
    where fact <> 'cycle_failed' and until > ${isoTime(now)} and v.counts
      and began_at >= ${isoTime(from)} and began_at < ${isoTime(until)}
  )`;

/** What happens after now has not happened. */
const seenIn = ({ from, until, now }: Window): Window => ({
  from,
  until: Math.min(until, now + 1),
  now,
});

/** By how many days old a subscription was when it left, as addresses name them. */
export const ageBands = [
  { name: '0-29', label: 'Under 30 days', from: 0, until: 30 },
  { name: '30-89', label: '30 to 89 days', from: 30, until: 90 },
  { name: '90-179', label: '90 to 179 days', from: 90, until: 180 },
  { name: '180-364', label: '180 to 364 days', from: 180, until: 365 },
  { name: '365', label: '365 days and more', from: 365, until: 2 ** 31 - 1 },
] as const;

export type AgeBand = (typeof ageBands)[number];

/** How many subscriptions of a plan and an age left for one cause. */
export interface ChurnGroup {
  readonly planId: number;
  readonly cause: ChurnCause;
  readonly age: AgeBand;
  readonly count: number;
}

/** A group as statements have it, with the index of its age band. */
export type BandRow = Omit<ChurnGroup, 'age'> & { readonly band: number };

export const groupOf = ({ band, ...row }: BandRow): ChurnGroup => ({
  ...row,
  age: ageBands[band] as AgeBand,
});

/** The index of the age band of `age_days`, in half the time of width_bucket. */
export function bandOf(sql: Sql | Transaction) {
  const [first, second, third, fourth] = ageBands;
  return sql`case when age_days < ${first.until} then 0 when age_days < ${second.until} then 1
    when age_days < ${third.until} then 2 when age_days < ${fourth.until} then 3 else 4 end`;
}

/** The subscriptions that left in a window and had not come back by now, by plan, cause and age. */
export async function listChurnGroups(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
): Promise<ChurnGroup[]> {
  const seen = seenIn(window);
  const band = bandOf(sql);
  const rows = await sql<BandRow[]>`
    with ${changedLater(sql, shopId, seen)}
    select plan_id as "planId", cause, band, sum(count)::bigint as count
    from (
      select plan_id, cause, ${band} as band, count(*) as count
      from (
        select plan_id, cause, age_days from departures
        where shop_id = ${shopId} and left_at >= ${isoTime(seen.from)} and left_at < ${isoTime(seen.until)}
        order by left_at offset 0
      ) departed
      group by 1, 2, 3
      union all
      select plan_id, cause, ${band}, sign
      from changed
    ) churned
    group by plan_id, cause, band
    having sum(count) <> 0
    order by plan_id, cause, band`;
  return rows.map(groupOf);
}

const dayOf = (at: number) => Math.floor(at / day);

/** A subscription that left, and has not come back. */
export interface ChurnedRow extends OfSubscription {
  /** Epoch milliseconds. */
  readonly leftAt: number;
  readonly cause: ChurnCause;
  /** Whole days of 24 hours from its beginning to when it left. */
  readonly ageDays: number;
  /** What it was worth a month until then, to 12 decimals; 0 in a trial. */
  readonly value: string;
  /** Of its latest cancel-flow session that ended cancelled. */
  readonly reason: DetectedReason | null;
}

interface ChurnFilter {
  readonly cause?: ChurnCause | undefined;
  readonly planId?: number | undefined;
  readonly age?: AgeBand | undefined;
}

/** By when they left, by how old they were then, or by what they were worth. */
const orders = {
  newest: ['newest', ['left_at', 'subscription_id']],
  oldest: ['oldest', ['left_at', 'subscription_id']],
  longest: ['newest', ['age_days', 'left_at', 'subscription_id']],
  shortest: ['oldest', ['age_days', 'left_at', 'subscription_id']],
  highest: ['newest', ['value', 'left_at', 'subscription_id']],
  lowest: ['oldest', ['value', 'left_at', 'subscription_id']],
} as const;

export type ChurnOrder = keyof typeof orders;

export interface ChurnedPage extends ChurnFilter {
  /** The last to leave first, if it is left out. */
  readonly order?: ChurnOrder;
  /** The last row of the page before: when it left, as `createdAt`, its id, and what else it may be sorted by. */
  readonly after: (Position & Partial<Pick<ChurnedRow, 'ageDays' | 'value'>>) | undefined;
  readonly limit: number;
}

/** The order of a page, and which of the subscriptions that left are on it, as parts of a statement. */
export function churnedPage(
  sql: Sql | Transaction,
  { order = 'newest', after, cause, planId, age }: ChurnedPage,
) {
  const [direction, columns] = orders[order];
  const last = after && {
    left_at: isoTime(after.createdAt),
    subscription_id: after.id,
    age_days: after.ageDays ?? 0,
    value: after.value ?? '0',
  };
  const { beyond, by } = keyset(sql, direction, columns, last);
  // Only those that were asked for: each costs a tenth of the time of a year.
  const ofCause = cause === undefined ? sql`` : sql`and cause = ${cause}`;
  const ofPlan = planId === undefined ? sql`` : sql`and plan_id = ${planId}`;
  const ofAge = age ? sql`and age_days >= ${age.from} and age_days < ${age.until}` : sql``;
  const matching = sql`${beyond} ${ofCause} ${ofPlan} ${ofAge}`;
  return { matching, by };
}

/**
 * The subscriptions that left in a window and had not come back by now. By when they left, reads only the page's entries
 * of one index; by age or worth, as many of each day. A filter has all of the window read, as listChurnGroups does.
 */
export async function listChurned(
  sql: Sql | Transaction,
  shopId: number,
  window: Window,
  page: ChurnedPage,
): Promise<ChurnedRow[]> {
  const seen = seenIn(window);
  const { matching, by } = churnedPage(sql, page);
  const [direction, [first]] = orders[page.order ?? 'newest'];
  const departed = (walk: Part, onDay = sql`true`) => sql`
    select * from (
      select *, subscription_id in (select subscription_id from changed where sign = -1) as is_changed
      from departures
      where shop_id = ${shopId} and ${onDay} and left_at >= ${isoTime(seen.from)} and left_at < ${isoTime(seen.until)}
        and ${matching}
      order by ${walk} offset 0
    ) d
    where not is_changed`;
  const isFiltered = (page.cause ?? page.planId ?? page.age) !== undefined;
  const ofDay = departed(
    sql`metric_day(left_at) ${orderOf(sql, direction).by}, ${by()}`,
    sql`metric_day(left_at) between on_day.day and on_day.day`,
  );
  const found =
    first === 'left_at' || isFiltered
      ? departed(keyset(sql, direction, ['left_at', 'subscription_id']).by())
      : sql`
        select d.* from generate_series(${dayOf(seen.from)}::integer, ${dayOf(seen.until - 1)}::integer) n
        cross join lateral (select timestamptz 'epoch' + n * interval '24 hours' as day) on_day
        cross join lateral (${ofDay} limit ${page.limit}) d`;
  const left = sql`
    (
      select subscription_id, left_at, cause, plan_id, age_days, value from (${found}) d
      order by ${by()} limit ${page.limit}
    )
    union all
    (
      select subscription_id, left_at, cause, plan_id, age_days, value from changed
      where sign = 1 and ${matching}
      order by ${by()} limit ${page.limit}
    )`;
  return sql<ChurnedRow[]>`
    with ${changedLater(sql, shopId, seen)} ${churnedRows(sql, shopId, left, page, seen.now)}`;
}

/**
 * A page of subscriptions that left, with what lists show of them: the end of a statement.
 * @param left some that match, with at least those of the page
 */
export function churnedRows(
  sql: Sql | Transaction,
  shopId: number,
  left: Part,
  page: ChurnedPage,
  now: number,
): Part {
  const { by } = churnedPage(sql, page);
  return sql`
    select l.subscription_id as "subscriptionId", s.customer_id as "customerId",
      l.plan_id as "planId", p.name as "planName",
      (date_part('epoch', l.left_at) * 1000)::bigint as "leftAt", l.cause, l.age_days as "ageDays",
      l.value::text as value, said.reason
    from (${left}) l
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'l.subscription_id')} s
    cross join lateral (
      select name from plans where shop_id = ${shopId} and plan_id = l.plan_id limit 1
    ) p
    left join lateral (
      select detected_reason as reason from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 'l.subscription_id')} session
      where outcome = 'cancelled' and created_at <= ${isoTime(now)}
      order by created_at desc, session_id desc limit 1
    ) said on true
    order by ${by('l')}
    limit ${page.limit}`;
}
