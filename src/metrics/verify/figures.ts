import { isoTime } from '../../iso-time.ts';
import { priceDecimals, roundHalfAway, shopDigitsOf, parseDecimal, zero } from '../../money.ts';
import type { Transaction, Sql } from '../../store/database.ts';
import { type Period, day, isoDay, monthBefore } from '../bounds.ts';
import type { ChurnCause } from '../churn.ts';
import { toSummary } from '../figures.ts';
import { toMovements } from '../movements.ts';
import { toRetention } from '../retention.ts';
import { type Cases, type ClosedCases, type OpenCases, attemptsIn, totalOf } from '../recovery.ts';
import {
  type RenewalWeek,
  projectRenewals,
  toProjectedWeeks,
  projectedWeeks,
} from '../renewals.ts';
import { type Figures, figuresFromRecords, figuresFromLedger } from '../segments/figures.ts';

/** A figure whose value from the ledger, which is served, is not what the records give. */
export interface FigureDifference {
  readonly figure: string;
  readonly served: unknown;
  /** From the records. */
  readonly plain: unknown;
}

interface ShopOfFigures {
  readonly id: number;
  readonly currency: string;
}

/** What is verified, from the ledger or from the records. */
interface Verified extends Figures {
  /** @param closed the closed cases, from which the ledger's attempts follow */
  attempts(closed: readonly ClosedCases[]): Promise<Attempt[]>;
  projected(): Promise<readonly RenewalWeek[]>;
}

/** Some attempts to collect closed cases. */
interface Attempt extends Cases {
  readonly number: number;
  readonly hasSucceeded: boolean;
}

const cohortMonths = 12;

/**
 * Compares a shop's summary, the movements, the churn, the recovery and the cancel-flow sessions of the last 30 days,
 * the subscriptions kept in them, the renewals of the next weeks, and the cohorts of the last 12 months with what its
 * records give.
 * Reads all of them; others must not write meanwhile.
 * @param now epoch milliseconds
 */
export async function findFigureDifferences(
  tx: Transaction,
  shop: ShopOfFigures,
  now: number,
): Promise<FigureDifference[]> {
  const served = await listValues(fromLedger(tx, shop, now), shop, now);
  const plain = await listValues(await fromRecords(tx, shop, now), shop, now);
  return [...new Set([...plain.keys(), ...served.keys()])]
    .filter((figure) => served.get(figure) !== plain.get(figure))
    .map((figure) => ({
      figure,
      served: served.get(figure) ?? null,
      plain: plain.get(figure) ?? null,
    }));
}

function fromLedger(tx: Transaction, shop: ShopOfFigures, now: number): Verified {
  return {
    ...figuresFromLedger(tx, shop),
    projected: () => projectRenewals(tx, shop.id, now),
    attempts: async (closed) =>
      attemptsIn(closed).flatMap(({ number, succeeded, failed }) => [
        { ...succeeded, number, hasSucceeded: true },
        { ...failed, number, hasSucceeded: false },
      ]),
  };
}

/** Segments read dunning cases as they are stored, and have no projection: both are followed below. */
async function fromRecords(tx: Transaction, shop: ShopOfFigures, now: number): Promise<Verified> {
  const figures = figuresFromRecords(tx, shop, undefined);
  const { outstanding, closed, attempts } = await recoveryFromRecords(
    tx,
    shop.id,
    monthBefore(now),
    now,
  );
  return {
    ...figures,
    summary: async (period) => ({
      ...(await figures.summary(period, now)),
      dunningActive: outstanding.length,
      dunningRecovered: closed.filter(({ result }) => result === 'recovered').length,
      dunningClosed: closed.length,
    }),
    outstanding: async () => outstanding,
    closed: async () => closed,
    attempts: async () => attempts,
    projected: () => projectionFromRecords(tx, shop.id, now),
  };
}

/** Each verified value by its name. */
async function listValues(
  figures: Verified,
  { currency }: ShopOfFigures,
  now: number,
): Promise<ReadonlyMap<string, unknown>> {
  const period = monthBefore(now);
  const window = { ...period, now };
  const days = await figures.churnDays(window);
  const count = (cause: ChurnCause) => days.reduce((total, each) => total + each[cause], 0);
  const kept = await figures.kept(window);
  const closed = await figures.closed(period);
  const weeks = toProjectedWeeks(await figures.projected(), currency);
  return new Map<string, unknown>([
    ...named('', toSummary(await figures.summary(period, now), currency, now)),
    ...named('movements ', toMovements(await figures.movements(period), currency)),
    ...named('retention ', toRetention(await figures.retention(period), 1, currency)),
    ...named('churned ', { cancelled: count('cancelled'), failed: count('failed') }),
    ...(await figures.churnGroups(window)).map(
      (each) =>
        [
          `churned of plan ${each.planId} ${each.cause} at ${each.age.name} days`,
          each.count,
        ] as const,
    ),
    ...(await figures.cohorts({ months: cohortMonths, now })).flatMap(
      ({ month, customers, retained, mrr }) => [
        ...named(`cohort ${month} `, { customers }),
        ...named(`cohort ${month} retained `, retained),
        ...named(`cohort ${month} mrr `, mrr),
      ],
    ),
    ...(await figures.sessionCounts(period)).map(
      ({ outcome, reason, offer, sessions }) =>
        [`sessions ${outcome ?? 'open'} ${reason} ${offer ?? 'no offer'}`, sessions] as const,
    ),
    ...named('kept ', {
      subscriptions: kept.subscriptions,
      mrr: roundHalfAway(kept.value, shopDigitsOf(currency)),
    }),
    ...weeks.flatMap(({ renewals, value }, index) =>
      named(`projected week ${index + 1} `, { renewals, value }),
    ),
    ...listSums(await figures.outstanding(now), (each) => `outstanding ${codeOf(each)}`),
    ...listSums(closed, (each) =>
      [isoDay(each.day), each.result, each.attempts, codeOf(each)].join(' '),
    ),
    ...listSums(
      (await figures.attempts(closed)).filter((each) => each.count > 0),
      ({ number, hasSucceeded }) => `attempt ${number} ${hasSucceeded ? 'succeeded' : 'failed'}`,
    ),
  ]);
}

function named(prefix: string, values: object): [string, unknown][] {
  return Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]);
}

/** Numbers and amounts of cases, by all that tells them apart. */
function listSums<Kind extends Cases>(cases: readonly Kind[], nameOf: (each: Kind) => string) {
  return [...Map.groupBy(cases, nameOf)].map(([name, alike]): [string, unknown] => {
    const { count, units } = totalOf(alike);
    return [`recovery ${name}`, `${count} ${units}`];
  });
}

const codeOf = ({ failureCode }: OpenCases) => failureCode ?? 'without a code';

/** What happened to a subscription. */
interface Event {
  readonly subscriptionId: number;
  readonly at: number;
  readonly kind: 'failed' | 'succeeded' | 'changed';
  /** The new status of a change. */
  readonly status: string | null;
  /** Of a failed payment. */
  readonly units: string | null;
  readonly failureCode: string | null;
}

interface Case {
  readonly units: bigint;
  failureCode: string | null;
  /** Whether each attempt to collect it succeeded, in their order. */
  readonly tries: boolean[];
  closedAt?: number;
}

const ended: ReadonlySet<string | null> = new Set(['cancelled', 'expired', 'failed']);
/** From this one on, attempts to collect a case are counted together. */
const lastAttempt = 4;
const subscriptionsPerStatement = 5_000;

/**
 * The same as listOutstanding, listClosed and attemptsIn, from the records, event by event: reads all payments of the
 * subscriptions that ever failed to pay. Each case is a group of its own.
 */
export async function recoveryFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  { from, until }: Period,
  now: number,
) {
  const outstanding: OpenCases[] = [];
  const closed: ClosedCases[] = [];
  const attempts: Attempt[] = [];
  for await (const { units, failureCode, tries, closedAt } of listCases(sql, shopId, now)) {
    const owed = { count: 1, units, failureCode };
    if (closedAt === undefined) outstanding.push(owed);
    else if (closedAt >= from && closedAt < until) {
      closed.push({
        ...owed,
        day: Math.floor(closedAt / day) * day,
        result: tries.at(-1) === true ? 'recovered' : 'lost',
        attempts: 1 + tries.filter((hasSucceeded) => !hasSucceeded).length,
      });
      for (const [index, hasSucceeded] of tries.entries()) {
        const number = Math.min(index + 1, lastAttempt);
        attempts.push({ number, hasSucceeded, count: 1, units });
      }
    }
  }
  return { outstanding, closed, attempts };
}

async function* listCases(sql: Sql | Transaction, shopId: number, now: number) {
  for (let after = 0; ;) {
    const events = await listEvents(sql, shopId, after);
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.subscriptionId;
    const seen = events.filter(({ at }) => at <= now);
    for (const history of Map.groupBy(seen, (each) => each.subscriptionId).values()) {
      yield* casesOf(history);
    }
  }
}

/** @param events of one subscription, in order */
function casesOf(events: readonly Event[]): Case[] {
  const cases: Case[] = [];
  let open: Case | undefined;
  let hasEnded = false;
  for (const { at, kind, status, units, failureCode } of events) {
    if (kind === 'failed') {
      if (open) {
        open.tries.push(false);
        open.failureCode = failureCode;
      } else if (!hasEnded) {
        open = { units: BigInt(units ?? 0), failureCode, tries: [] };
        cases.push(open);
      }
      continue;
    }
    if (kind === 'changed') hasEnded = ended.has(status);
    if (!open || (kind === 'changed' && !hasEnded)) continue;
    if (kind === 'succeeded') open.tries.push(true);
    open.closedAt = at;
    open = undefined;
  }
  return cases;
}

/** Everything that happened to the next subscriptions that ever failed to pay, in order. */
function listEvents(sql: Sql | Transaction, shopId: number, after: number): Promise<Event[]> {
  return sql<Event[]>`
    with seen as (
      select distinct p.subscription_id from payments p
      join subscriptions s on s.shop_id = ${shopId} and s.subscription_id = p.subscription_id
      where p.shop_id = ${shopId} and p.subscription_id > ${after}
        and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
        and s.status_since is not null
      order by p.subscription_id limit ${subscriptionsPerStatement}
    )
    select subscription_id as "subscriptionId", (date_part('epoch', at) * 1000)::bigint as at, kind,
      status, units, "failureCode"
    from (
      select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id, p.status as kind,
        null as status, round(p.amount * 10::numeric ^ ${priceDecimals}::int)::text as units,
        p.failure_code as "failureCode"
      from seen
      join payments p on p.shop_id = ${shopId} and p.subscription_id = seen.subscription_id
      where p.status = 'succeeded'
        or p.status = 'failed' and p.failure_kind is distinct from 'inventory'
      union all
      select e.subscription_id, e.at, 1, e.position, 'changed', e.to_status, null, null
      from seen
      join status_events e on e.shop_id = ${shopId} and e.subscription_id = seen.subscription_id
    ) happened
    order by subscription_id, happened.at, rank, id`;
}

/**
 * The same as projectRenewals, from the records: every renewal of every active subscription.
 * @param now epoch milliseconds
 */
export async function projectionFromRecords(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
): Promise<RenewalWeek[]> {
  const at = isoTime(now);
  const until = isoTime(now + projectedWeeks * 7 * day);
  const rows = await sql<{ week: number; renewals: number; value: string }[]>`
    with instants as materialized (
      select ${at}::timestamptz as now, ${until}::timestamptz as until
    ),
    seen as materialized (
      select s.subscription_id, s.next_billing_at at time zone 'UTC' as next, billed.unit, billed.count,
        price_at(s.current_price, s.other_intervals, billed.unit || ' ' || billed.count) as price
      from instants i
      join (
        select * from subscriptions where shop_id = ${shopId} order by subscription_id offset 0
      ) s on s.created_at <= i.now and s.next_billing_at >= i.now and s.next_billing_at < i.until
      cross join lateral (
        select * from plans where shop_id = ${shopId} and plan_id = s.plan_id limit 1
      ) p
      cross join lateral (
        values (coalesce(s.own_interval_unit, p.interval_unit),
          coalesce(s.own_interval_count, p.interval_count))
      ) billed (unit, count)
      left join lateral (
        select e.to_status from status_events e
        where e.shop_id = ${shopId} and e.subscription_id = s.subscription_id and e.at <= i.now
        order by e.position desc limit 1
      ) past on true
      where case when coalesce(s.status_since, '-infinity') <= i.now then s.status else coalesce(past.to_status, 'active') end
        = 'active'
    ),
    renewals as (
      select distinct s.subscription_id, s.price,
        floor(date_part('epoch', r.at at time zone 'UTC' - i.now) / ${7 * 86_400}::int)::int as week
      from instants i, seen s
      cross join generate_series(0, 55) cycle
      cross join lateral (
        select s.next + case s.unit
          when 'day' then make_interval(days => s.count * cycle)
          when 'week' then make_interval(weeks => s.count * cycle)
          when 'month' then make_interval(months => s.count * cycle)
          else make_interval(years => s.count * cycle)
        end as at
      ) r
      where r.at at time zone 'UTC' < i.until
    )
    select week, count(*) as renewals, sum(price) as value from renewals group by week`;
  const byWeek = new Map(rows.map((row) => [row.week, row]));
  return Array.from({ length: projectedWeeks }, (_, index) => {
    const row = byWeek.get(index);
    return {
      from: now + index * 7 * day,
      renewals: row?.renewals ?? 0,
      value: row ? parseDecimal(row.value) : zero,
    };
  });
}
