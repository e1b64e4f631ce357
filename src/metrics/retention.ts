import { isoTime } from '../iso-time.ts';
import {
  type Ratio,
  add,
  divide,
  parseDecimal,
  roundHalfAway,
  shopDigitsOf,
  subtract,
  zero,
} from '../money.ts';
import { each } from '../store/lookup.ts';
import type { Sql, Transaction } from '../store/database.ts';
import type { Period } from './bounds.ts';
import { inflows, outflows } from './facts.ts';
import { type MovementValues, summariseMovements } from './movements.ts';

/** What became of the MRR that a period began with, exactly. */
export interface RetainedValues {
  readonly movements: MovementValues;
  /** What the customers who had some at the opening were worth at the closing. */
  readonly net: Ratio;
  /** The same, but of each at most what they were worth at the opening. */
  readonly gross: Ratio;
}

/** Rates have 4 decimals, and are null where there is nothing to divide by. */
export interface Retention {
  readonly currency: string;
  readonly opening: number;
  readonly closing: number;
  readonly net: number | null;
  readonly gross: number | null;
  readonly quickRatio: number | null;
  readonly arpa: number | null;
}

/** The figures for owners. */
export const retentionLines = {
  net: {
    label: 'Net revenue retention',
    definition:
      'Of the customers who had MRR at the start: what they bring at the end, as a share of what they brought. Expansion counts, new customers do not.',
  },
  gross: {
    label: 'Gross revenue retention',
    definition: 'The same, but of each customer at most what they brought at the start.',
  },
  quickRatio: {
    label: 'Quick ratio',
    definition: 'MRR that came in the period for each unit that left.',
  },
  arpa: {
    label: 'MRR per subscriber',
    definition: 'MRR at the end, divided by the active subscribers.',
  },
} as const;

/** How the customers who had MRR changed it, as decimals. */
export interface ChangedValues {
  readonly change: string;
  /** Only what it fell by, customer by customer. */
  readonly lost: string;
}

/** What a customer was worth just before an instant, ISO 8601, as a row of a statement. @param customer a column */
export const valueBefore = (
  sql: Sql | Transaction,
  shopId: number,
  customer: string,
  at: string,
) => sql`
  select coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0) as value
  from ${each(sql, shopId, 'subscriber_changes', 'customer_id', customer)} change
  cross join lateral unnest(change.active) a
  where change.at < ${at}`;

/**
 * The retention of revenue over a period, from the facts: the cost grows with the customers whose MRR changed in it, not
 * with the shop. What they had before is read only where it rose: who has less had some, and who is new had none.
 * @param movements those of the period, where they are read anyway
 */
export async function summariseRetention(
  sql: Sql | Transaction,
  shopId: number,
  period: Period,
  movements = summariseMovements(sql, shopId, period),
): Promise<RetainedValues> {
  const [from, until] = [isoTime(period.from), isoTime(period.until)];
  const [values, [found]] = await Promise.all([
    movements,
    sql<ChangedValues[]>`
      with changed as (
        select c.customer_id, sum(monthly_amount(a.amount, interval_of_fact(a.fact))) as change,
          max(c.new_subscriber) as begun
        from (
          select customer_id, active, new_subscriber from subscriber_changes
          where shop_id = ${shopId} and at >= ${from} and at < ${until} order by at offset 0
        ) c
        cross join lateral unnest(c.active) a
        group by c.customer_id
      )
      select round(coalesce(sum(c.change), 0), 30)::text as change,
        round(coalesce(sum(greatest(-c.change, 0)), 0), 30)::text as lost
      from changed c
      where c.change < 0 or (c.change > 0 and c.begun = 0
        and (select round(value, 30) > 0 from (${valueBefore(sql, shopId, 'c.customer_id', from)}) opening))`,
  ]);
  return retainedOf(values, found);
}

/** What became of a cohort's MRR. */
export interface RetainedByCohort extends Pick<Retention, 'opening' | 'closing' | 'net' | 'gross'> {
  /** In which the first subscription of its customers began, for example 2026-03. */
  readonly month: string;
}

/**
 * The retention of revenue over a period by the cohorts that had begun by its end, oldest first. It reads all changes of
 * the shop until then. @param shop its currency is an ISO 4217 code
 */
export async function retentionByCohort(
  sql: Sql | Transaction,
  shop: { readonly id: number; readonly currency: string },
  period: Period,
): Promise<RetainedByCohort[]> {
  const [from, until] = [isoTime(period.from), isoTime(period.until)];
  const value = sql`sum(monthly_amount(a.amount, interval_of_fact(a.fact)))`;
  type Row = Readonly<Record<'month' | 'opening' | 'closing' | 'net' | 'gross', string>>;
  const rows = await sql<Row[]>`
    select to_char(since at time zone 'UTC', 'YYYY-MM') as month, sum(opening)::text as opening,
      sum(closing)::text as closing, coalesce(sum(closing) filter (where opening > 0), 0)::text as net,
      coalesce(sum(least(opening, closing)) filter (where opening > 0), 0)::text as gross
    from (
      select min(c.at) as since,
        round(coalesce(${value} filter (where c.at < ${from}), 0), 30) as opening,
        round(coalesce(${value}, 0), 30) as closing
      from (
        select * from subscriber_changes where shop_id = ${shop.id} order by customer_id, at offset 0
      ) c
      left join lateral unnest(c.active) a on true
      where c.at < ${until}
      group by c.customer_id
    ) customers
    group by 1 order by 1`;
  const digits = shopDigitsOf(shop.currency);
  return rows.map(({ month, closing, net, gross, ...row }) => {
    const opening = parseDecimal(row.opening);
    return {
      month,
      opening: roundHalfAway(opening, digits),
      closing: roundHalfAway(parseDecimal(closing), digits),
      net: rate(parseDecimal(net), opening),
      gross: rate(parseDecimal(gross), opening),
    };
  });
}

export function retainedOf(
  movements: MovementValues,
  { change, lost }: ChangedValues = { change: '0', lost: '0' },
): RetainedValues {
  const { opening } = movements;
  return {
    movements,
    net: add(opening, parseDecimal(change)),
    gross: subtract(opening, parseDecimal(lost)),
  };
}

const rate = (part: Ratio | undefined, whole: Ratio) =>
  part && whole.numerator > 0n ? roundHalfAway(divide(part, whole), 4) : null;

/**
 * Rounds each value once; a rate without its value is null.
 * @param subscribers at the closing @param currency the shop's, ISO 4217
 */
export function toRetention(
  { movements, net, gross }: Pick<RetainedValues, 'movements'> & Partial<RetainedValues>,
  subscribers: number,
  currency: string,
): Retention {
  const money = (value: Ratio) => roundHalfAway(value, shopDigitsOf(currency));
  const { opening, closing } = movements;
  const total = (names: readonly (keyof MovementValues)[]) =>
    names.map((name) => movements[name]).reduce(add, zero);
  return {
    currency,
    opening: money(opening),
    closing: money(closing),
    net: rate(net, opening),
    gross: rate(gross, opening),
    quickRatio: rate(total(inflows), total(outflows)),
    arpa:
      subscribers > 0
        ? money(divide(closing, { numerator: BigInt(subscribers), denominator: 1n }))
        : null,
  };
}
