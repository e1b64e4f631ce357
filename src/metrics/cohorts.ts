import { isoTime } from '../iso-time.ts';
import { decimalText, parseDecimal, priceDecimals, roundHalfAway, shopDigitsOf } from '../money.ts';
import { type Sql, type Transaction, withTimeout } from '../store/database.ts';
import { type Position, keyset } from '../store/records/listing.ts';
import type { SubscriptionStatus } from '../vocabulary.ts';
import { type ActiveValue, monthlyValue, type IntervalText, parseInterval } from '../mrr.ts';
import { each } from '../store/lookup.ts';
import { inUnits } from './ledger.ts';
import { valueBefore } from './retention.ts';

/** The customers whose first subscription began in one UTC month, and how many were left by month since. */
export interface Cohort {
  /** For example 2026-03. */
  readonly month: string;
  readonly customers: number;
  readonly retained: readonly number[];
  /** In the shop's currency. */
  readonly mrr: readonly number[];
}

export const cohortFigures: Readonly<Record<keyof Cohort, string>> = {
  month: "The cohort's month.",
  customers: 'Its customers.',
  retained:
    "For each month from the cohort's own to the current one: those with an active or paused subscription at its end.",
  mrr: 'For the same months: the MRR of their active subscriptions then.',
};

/** What holds for a cohort at the end of a month: its customers, those retained, or its price sum of one interval. */
export interface CohortRow {
  /** For example 2026-03. */
  readonly cohort: string;
  readonly month: string;
  readonly fact: 'customers' | 'retained' | IntervalText;
  readonly count: number;
  /** A decimal. */
  readonly amount: string;
}

/** A UTC month and its end, or now if that is earlier. ISO 8601 texts. */
export interface Month {
  readonly month: string;
  readonly end: string;
}

export interface CohortOptions {
  /** How many months, including the current one. */
  readonly months: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The last months, oldest first. What happens exactly now belongs to what comes next. */
export function listMonths({ months, now }: CohortOptions): Month[] {
  const date = new Date(now);
  const monthStart = (index: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + index);
  return Array.from({ length: months }, (_, index) => {
    const at = index - months + 1;
    return {
      month: isoTime(monthStart(at)).slice(0, 7),
      end: isoTime(Math.min(monthStart(at + 1), now)),
    };
  });
}

/** The cohorts that have customers, oldest first; each value is rounded once. @param currency ISO 4217 */
export function toCohorts(
  rows: readonly CohortRow[],
  months: readonly Month[],
  currency: string,
): Cohort[] {
  const counts = new Map<string, number>();
  const values = new Map<string, ActiveValue[]>();
  for (const { cohort, month, fact, count, amount } of rows) {
    if (fact === 'customers' || fact === 'retained') {
      counts.set(`${cohort} ${month} ${fact}`, count);
    } else {
      const ofMonth = values.getOrInsertComputed(`${cohort} ${month}`, () => []);
      ofMonth.push({ ...parseInterval(fact), sum: amount });
    }
  }
  const digits = shopDigitsOf(currency);
  return months.flatMap(({ month: cohort }, index) => {
    const customers = counts.get(`${cohort} ${cohort} customers`) ?? 0;
    if (customers === 0) return [];
    const since = months.slice(index).map(({ month }) => month);
    return {
      month: cohort,
      customers,
      retained: since.map((month) => counts.get(`${cohort} ${month} retained`) ?? 0),
      mrr: since.map((month) =>
        roundHalfAway(monthlyValue(values.get(`${cohort} ${month}`) ?? []), digits),
      ),
    };
  });
}

interface ShopOfCohorts {
  readonly id: number;
  readonly currency: string;
}

/** How a cohort changed in a month. */
interface Change extends Omit<CohortRow, 'amount'> {
  /** In units of the last decimal place of prices. */
  readonly amount: string;
}

/**
 * The cohorts of the last months, from the ledger: the cost does not grow with the shop.
 * Anything dated at `now` or later is left out.
 */
export async function listCohorts(
  sql: Sql | Transaction,
  shop: ShopOfCohorts,
  options: CohortOptions,
): Promise<Cohort[]> {
  const months = listMonths(options);
  const first = months[0]?.month ?? '';
  const [since, facts] = [`${first}-01T00:00:00Z`, `cohort ${first}`];
  const now = isoTime(options.now);
  const date = new Date(options.now);
  const nextMonth = isoTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
  const changes = await withTimeout(sql<Change[]>`
    select split_part(fact, ' ', 2) as cohort, to_char(bucket at time zone 'UTC', 'YYYY-MM') as month,
      substr(fact, length('cohort 2026-03 ') + 1) as fact, sum(count)::bigint as count,
      ${inUnits(sql, 'sum(amount)')} as amount
    from (
      select fact, bucket, count, amount from metric_ledger
      where shop_id = ${shop.id} and grain = 'month' and bucket >= ${since}
        and bucket < ${now} and fact >= ${facts}
      union all
      (
        select fact, metric_month(at), -count, -amount from subscriber_facts
        where shop_id = ${shop.id} and at >= ${now} and at < ${nextMonth} and fact like 'cohort %'
        order by at offset 0
      )
    ) changes
    group by fact, bucket
    having sum(count) <> 0 or sum(amount) <> 0`);
  const names = months.map(({ month }) => month);
  return toCohorts(sumUp(changes, names), months, shop.currency);
}

/** What holds at the end of each month: the sum of all changes until then. */
function sumUp(changes: readonly Change[], months: readonly string[]): CohortRow[] {
  const groups = Map.groupBy(changes, ({ cohort, fact }) => `${cohort} ${fact}`);
  return [...groups.values()].flatMap((group) => {
    const { cohort, fact } = group[0] as Change;
    const byMonth = new Map(group.map((change) => [change.month, change]));
    let count = 0;
    let amount = 0n;
    return months.slice(Math.max(months.indexOf(cohort), 0)).map((month) => {
      const change = byMonth.get(month);
      count += change?.count ?? 0;
      amount += BigInt(change?.amount ?? 0);
      return { cohort, month, fact, count, amount: decimalText(amount, priceDecimals) };
    });
  });
}

/**
 * What each cohort kept of the MRR that it had at the end of its own month, by month since: of each customer at most what
 * they had then. It reads all changes of the customers.
 */
export async function listGross(
  sql: Sql | Transaction,
  { id: shopId, currency }: ShopOfCohorts,
  options: CohortOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const months = listMonths(options).map(({ month }) => month);
  const changes = await withTimeout(sql<Change[]>`
    select cohort, month, 'month 1' as fact, 0 as count, ${inUnits(sql, 'sum(change)')} as amount
    from (
      select cohort, month,
        least(opening, value) - lag(least(opening, value), 1, 0::numeric) over (partition by customer_id order by month) as change
      from (
        select *, sum(change) over (partition by customer_id order by month) as value,
          sum(change) filter (where month = cohort) over (partition by customer_id) as opening
        from (
          select c.customer_id, c.cohort, to_char(c.at at time zone 'UTC', 'YYYY-MM') as month,
            coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0) as change
          from (
            select * from subscriber_changes where shop_id = ${shopId} order by customer_id, at offset 0
          ) c
          left join lateral unnest(c.active) a on true
          where c.cohort >= ${months[0] ?? ''} and c.at < ${isoTime(options.now)}
          group by 1, 2, 3
        ) changes
      ) valued
    ) kept
    group by 1, 2`);
  const digits = shopDigitsOf(currency);
  const kept = Map.groupBy(sumUp(changes, months), ({ cohort }) => cohort);
  return new Map(
    [...kept].map(([cohort, rows]) => [
      cohort,
      rows.map(({ amount }) => roundHalfAway(parseDecimal(amount), digits)),
    ]),
  );
}

/** A customer of a cohort. */
export interface CohortMember {
  readonly customerId: number;
  /** Their first. */
  readonly subscriptionId: number;
  readonly planName: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly status: SubscriptionStatus;
  /** Their MRR when they were kept, or now; a decimal. */
  readonly value: string;
  /** What they are sorted by; 0 if that is the time. */
  readonly worth: string;
}

interface MembersOf extends Month {
  /** As if there were no subscriptions but those of this plan. */
  readonly planId: number | undefined;
  /** Only those with an active or paused subscription just before this instant, ISO 8601. */
  readonly keptAt: string | undefined;
  /** Only those without one just before this instant. */
  readonly goneAt?: string | undefined;
  /** ISO 8601. */
  readonly now: string;
}

/** By when they began, or by what customers are worth once all trials have ended: of those of any plan. */
const memberOrders = {
  newest: ['newest', ['created_at', 'subscription_id']],
  oldest: ['oldest', ['created_at', 'subscription_id']],
  highest: ['newest', ['worth', 'customer_id']],
  lowest: ['oldest', ['worth', 'customer_id']],
} as const;

export type MemberOrder = keyof typeof memberOrders;

interface MembersPage {
  readonly order?: MemberOrder | undefined;
  /** The last row of the page before: its `createdAt`, the id of its subscription, and what else it may be sorted by. */
  readonly after: (Position & Partial<Pick<CohortMember, 'worth' | 'customerId'>>) | undefined;
  readonly limit: number;
}

/**
 * The customers of a cohort. By when their first subscription began, reads those of the month until a page is full; by
 * worth, what all customers of the month are worth, and of the others only the page.
 */
export async function listCohortMembers(
  sql: Sql | Transaction,
  shopId: number,
  { month, end, now, ...only }: MembersOf,
  { order = 'newest', after, limit }: MembersPage,
): Promise<CohortMember[]> {
  const { planId = null, keptAt = null, goneAt } = only;
  const start = `${month}-01T00:00:00Z`;
  const [direction, columns] = memberOrders[order];
  const last = after && {
    created_at: isoTime(after.createdAt),
    subscription_id: after.id,
    worth: after.worth ?? '0',
    customer_id: after.customerId ?? 0,
  };
  const { beyond, by } = keyset(sql, direction, columns, last);
  const first =
    columns[0] === 'worth'
      ? sql`
    select v.customer_id, v.worth, own.subscription_id, own.plan_id, own.status, own.created_at from (
      select * from (
        select customer_id, value as worth from customer_values
        where shop_id = ${shopId} and since >= ${start} and since < ${end} order by since offset 0
      ) customers
      where ${beyond} order by ${by()} offset 0
    ) v
    cross join lateral (
      select * from ${each(sql, shopId, 'subscriptions', 'customer_id', 'v.customer_id')} held
      order by created_at, subscription_id limit 1
    ) own`
      : sql`
    select *, 0 as worth from subscriptions
    where shop_id = ${shopId} and created_at >= ${start} and created_at < ${end} and ${beyond}
    order by ${by()} offset 0`;
  const liveAt = (at: string | null) => sql`
    left join lateral (
      select true as is_there from ${each(sql, shopId, 'subscriptions', 'customer_id', 's.customer_id')} held
      left join lateral (
        select to_status from (
          select * from status_events
          where shop_id = ${shopId} and subscription_id = held.subscription_id
          order by position desc offset 0
        ) event
        where at < ${at}::timestamptz limit 1
      ) last on true
      where plan_id = coalesce(${planId}::bigint, plan_id) and created_at < ${at}::timestamptz
        and held.status_since is not null
        and coalesce(last.to_status, 'active') in ('active', 'paused')
      limit 1
    )`;
  const later = goneAt === undefined ? sql`` : sql`${liveAt(goneAt)} later on true`;
  const isGone = goneAt === undefined ? sql`` : sql`and later.is_there is null`;
  return sql<CohortMember[]>`
    select s.customer_id as "customerId", s.subscription_id as "subscriptionId", p.name as "planName",
      (date_part('epoch', s.created_at) * 1000)::bigint as "createdAt", s.status, round(worth.value, 12)::text as value, s.worth::text as worth
    from (
      select s.* from (${first}) s
      left join lateral (
        select true as is_there from ${each(sql, shopId, 'subscriptions', 'customer_id', 's.customer_id')} other
        where plan_id = coalesce(${planId}::bigint, plan_id)
          and (created_at, subscription_id) < (s.created_at, s.subscription_id)
        limit 1
      ) earlier on true
      ${liveAt(keptAt)} live on true
      ${later}
      where s.plan_id = coalesce(${planId}::bigint, s.plan_id) and earlier.is_there is null
        and (live.is_there or ${keptAt}::timestamptz is null) ${isGone}
      order by ${by('s')}
      limit ${limit}
    ) s
    cross join lateral (
      select name from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
    ) p
    cross join lateral (${valueBefore(sql, shopId, 's.customer_id', keptAt ?? now)}) worth
    order by ${by('s')}`;
}
