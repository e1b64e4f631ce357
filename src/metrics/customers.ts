import { isoTime } from '../iso-time.ts';
import type { Ratio } from '../money.ts';
import { type IntervalText, monthlyValue, parseInterval } from '../mrr.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { each, lookup } from '../store/lookup.ts';
import { keyset } from '../store/records/listing.ts';
import { day } from './bounds.ts';
import type { Part } from './ledger.ts';
import { openAt } from './recovery.ts';

/** What may cost a customer: an open dunning case, several skipped orders, a visit to the cancel flow. */
export type Risk = 'failing' | 'skipping' | 'leaving';

/** How many days sessions count, and how many skipped orders are several. */
const riskDays = { skipping: 180, leaving: 90 } as const;
const minSkips = 2;

/** How many cases or sessions a filter reads, the newest first: more would take too long. */
export const maxSigns = 5_000;

/** A customer as of an instant. Amounts are decimals, times epoch milliseconds. */
export interface CustomerRow {
  readonly customerId: number;
  /** When their first subscription began. */
  readonly since: number;
  /** What they will be worth a month once all trials have ended, to 12 decimals. */
  readonly value: string;
  /** The exact MRR. */
  readonly mrr: Ratio;
  /** Payments less refunds. */
  readonly paid: string;
  readonly subscriptions: number;
  /** Of them, those that are active, trials included. */
  readonly active: number;
  readonly trials: number;
  readonly risks: Readonly<Record<Risk, boolean>>;
  /** How many customers have the risk that is asked for; 0 if none is. */
  readonly total: number;
  /** Whether there are more than could be read. */
  readonly isCut: boolean;
}

/** Each reads an index from one of its ends. */
const orders = {
  highest: ['newest', 'value'],
  lowest: ['oldest', 'value'],
  newest: ['newest', 'since'],
  oldest: ['oldest', 'since'],
} as const;

export type CustomerOrder = keyof typeof orders;

interface CustomersPage {
  readonly order: CustomerOrder;
  /** Only customers who have it. */
  readonly risk: Risk | undefined;
  /** The last row of the page before. */
  readonly after: Pick<CustomerRow, 'customerId' | 'since' | 'value'> | undefined;
  readonly limit: number;
}

/**
 * A shop's customers as of now, epoch milliseconds. Costs the same on every page; with a risk, reads the
 * newest of what it follows from.
 */
export async function listCustomers(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  { order, risk, after, limit }: CustomersPage,
): Promise<CustomerRow[]> {
  const [direction, column] = orders[order];
  const { beyond, by } = keyset(
    sql,
    direction,
    [column, 'customer_id'],
    after && { since: isoTime(after.since), value: after.value, customer_id: after.customerId },
  );
  const matching = risk
    ? sql`
      select * from (
        select v.*, r.is_cut, count(*) over () as total from (${customersAtRisk(sql, shopId, now, risk)}) r
        cross join ${lookup(sql, shopId, 'customer_values', 'customer_id', 'r.customer_id')} v
      ) v
      where ${beyond}`
    : sql`
      select *, false as is_cut, 0 as total from customer_values
      where shop_id = ${shopId} and since <= ${isoTime(now)} and ${beyond}`;
  return readRows(sql, shopId, now, sql`${matching} order by ${by()} limit ${limit}`, by('v'));
}

/** How many customers there are as of now, epoch milliseconds, up to a limit. */
export async function countCustomers(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  limit: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from (
      select from customer_values where shop_id = ${shopId} and since <= ${isoTime(now)}
      order by since, customer_id limit ${limit}
    ) found`;
  return row?.count ?? 0;
}

/** A customer as of now, epoch milliseconds; undefined for one who has had no subscription. */
export async function findCustomer(
  sql: Sql | Transaction,
  shopId: number,
  customerId: number,
  now: number,
): Promise<CustomerRow | undefined> {
  const found = sql`
    select *, false as is_cut, 0 as total
    from ${lookup(sql, shopId, 'customer_values', 'customer_id', customerId)} v`;
  const [row] = await readRows(sql, shopId, now, found, sql`v.customer_id`);
  return row;
}

/** @param customers rows of customer_values, with `is_cut` and `total` @param by the order of `v` */
async function readRows(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  customers: Part,
  by: Part,
): Promise<CustomerRow[]> {
  const at = isoTime(now);
  const of = (table: string, owner: string, id: string) => each(sql, shopId, table, owner, id);
  const rows = await sql<(Omit<CustomerRow, 'mrr'> & { amounts: Amounts | null })[]>`
    select v.customer_id as "customerId", (date_part('epoch', v.since) * 1000)::bigint as since,
      v.value::text as value, v.total, v.is_cut as "isCut", w.*, o.subscriptions, o.paid, json_build_object('failing',
        o.is_failing is true, 'skipping', l.is_live and o.skips >= ${minSkips},
        'leaving', l.is_live and o.is_leaving is true) as risks
    from (${customers}) v
    cross join lateral (select ${isLive(sql, shopId, now, 'v.customer_id')} as is_live) l
    cross join lateral (
      select json_object_agg(billed, amount) filter (where billed is not null) as amounts,
        coalesce(sum(count), 0)::int as active, coalesce(sum(count) filter (where billed is null), 0)::int as trials
      from (
        select billed, sum(amount)::text as amount, sum(count) as count
        from ${of('subscriber_changes', 'customer_id', 'v.customer_id')} c
        cross join lateral (
          select interval_of_fact(fact) as billed, amount, count from unnest(c.active)
          union all
          select null, 0, c.trial
        ) a
        where c.at <= ${at}
        group by billed
      ) sums
    ) w
    cross join lateral (
      select count(*) as subscriptions, coalesce(sum(p.paid), 0)::text as paid, sum(c.skips) as skips,
        bool_or(d.is_failing) as is_failing, bool_or(c.is_leaving) as is_leaving
      from ${of('subscriptions', 'customer_id', 'v.customer_id')} s
      cross join lateral (
        select sum(case when status = 'succeeded' and processed_at < ${at} then amount else 0 end - refunded) as paid
        from ${of('payments', 'subscription_id', 's.subscription_id')} payment
        cross join lateral (
          select coalesce(sum(amount), 0) as refunded
          from ${of('refunds', 'payment_id', 'payment.payment_id')} refund where refunded_at < ${at}
        ) r
      ) p
      cross join lateral (
        select bool_or(opened_at <= ${at} and coalesce(closed_at > ${at}, true)) as is_failing
        from ${of('dunning_cases', 'subscription_id', 's.subscription_id')} dunning
      ) d
      cross join lateral (
        select count(*) filter (where ${isSkip(sql, now)}) as skips, bool_or(${isVisit(sql, now)}) as is_leaving
        from ${of('cancellation_sessions', 'subscription_id', 's.subscription_id')} session
      ) c
      where s.created_at <= ${at}
    ) o
    order by ${by}`;
  return rows.map(({ amounts, ...row }) => {
    const sums = Object.entries(amounts ?? {}) as [IntervalText, string][];
    const mrr = monthlyValue(sums.map(([billed, sum]) => ({ ...parseInterval(billed), sum })));
    return { ...row, mrr };
  });
}

/** Sums of prices by billing interval. */
type Amounts = Readonly<Record<IntervalText, string>>;

/** Whether a customer has a live subscription: those who have left cannot be kept. */
const isLive = (
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  customer: string,
): Part => sql`(
  select coalesce(sum(live + paused_undated) > 0, false)
  from ${each(sql, shopId, 'subscriber_changes', 'customer_id', customer)} c where at <= ${isoTime(now)})`;

/** Whether a session is a visit to the cancel flow that still counts. */
const isVisit = (sql: Sql | Transaction, now: number): Part =>
  sql`created_at >= ${isoTime(now - riskDays.leaving * day)} and created_at < ${isoTime(now)}`;

/** Whether a session ended in a skipped order that still counts, in the form that finds its place in the index. */
const isSkip = (sql: Sql | Transaction, now: number): Part => sql`
  (outcome, created_at) >= ('saved', ${isoTime(now - riskDays.skipping * day)})
  and (outcome, created_at) < ('saved', ${isoTime(now)}) and offer_type = 'skip_next'`;

/** The customers who have a risk, each once, by the newest of what it follows from. */
function customersAtRisk(sql: Sql | Transaction, shopId: number, now: number, risk: Risk): Part {
  const sessions = sql`
    select subscription_id from cancellation_sessions
    where shop_id = ${shopId} and subscription_id is not null and`;
  const signs = {
    failing: sql`
      select subscription_id from (${openAt(sql, shopId, isoTime(now))}) c order by opened_at desc`,
    skipping: sql`${sessions} ${isSkip(sql, now)} order by outcome desc, created_at desc`,
    leaving: sql`${sessions} ${isVisit(sql, now)} order by created_at desc`,
  };
  const isKeepable = risk === 'failing' ? sql`true` : isLive(sql, shopId, now, 's.customer_id');
  return sql`
    with found as materialized (${signs[risk]} limit ${maxSigns + 1})
    select s.customer_id, (select count(*) from found) > ${maxSigns} as is_cut
    from (select * from found limit ${maxSigns}) signs
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'signs.subscription_id')} s
    where s.created_at <= ${isoTime(now)}
    group by s.customer_id having count(*) >= ${risk === 'skipping' ? minSkips : 1}::int and ${isKeepable}`;
}
