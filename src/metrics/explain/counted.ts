import type { IntervalText } from '../../mrr.ts';
import { isoTime } from '../../iso-time.ts';
import { type Sql, type Transaction, arrayText } from '../../store/database.ts';
import { lookup } from '../../store/lookup.ts';
import { type Period, lastBefore } from '../bounds.ts';
import { ageBands } from '../churn.ts';
import {
  type Asked,
  type Counted,
  type ExplainedFigure,
  type Question,
  columnsBy,
  noReason,
  told,
} from './question.ts';
import { churnRateOf, mrrOf } from './subscriptions.ts';

/** What is counted in a period for a value of the dimension. */
export interface CountedRow {
  /** 0 is the one before. */
  readonly period: 0 | 1;
  /** An id, a name, or the index of a band; null if it is unknown. */
  readonly value: string | null;
  readonly n: number;
  readonly d: number;
  /** Of MRR, one of the billing intervals of the price, a decimal. */
  readonly billed: IntervalText | null;
  readonly price: string;
}

/** What a figure counts in two periods, each as seen from its end, by the values of a dimension. */
export async function countByValue(
  sql: Sql | Transaction,
  shopId: number,
  question: Question,
  now: number,
): Promise<CountedRow[]> {
  const { figure, by } = question;
  const periods = [question.before, question.now] as const;
  const endOf = ({ until }: Period) => (until === now ? isoTime(now) : lastBefore(until));
  const ends = [endOf(periods[0]), endOf(periods[1])] as const;
  const timesOf = (end: keyof Period) => arrayText(periods.map((period) => isoTime(period[end])));
  const isMrr = figure === 'mrr';
  const names = [...new Set([...columnsBy[by], ...(isMrr ? columnsBy.interval : [])])];
  const grouped = sql.unsafe(['period', 'billed', ...names].join(', '));
  const interval = sql`(
    select coalesce(g.own_interval_unit, interval_unit) || ' ' || coalesce(g.own_interval_count, interval_count)
    from plans where shop_id = ${shopId} and plan_id = g.plan_id limit 1
  )`;
  const value = {
    plan: sql`g.plan_id::text`,
    interval,
    age: sql`g.band::text`,
    price: sql`price_band(g.current_price)::text`,
    source: sql`regexp_replace(g.feed, '-(file|webhooks)$', '')`,
    reason: sql`g.reason`,
  }[by];
  const { rows, groups } = countedBy[figure]({ sql, shopId, ...question, ends }, names);
  const billed = isMrr ? sql`coalesce(billed, ${interval})` : sql`null`;
  const more = groups ? sql`union all ${groups}` : sql``;
  return sql<CountedRow[]>`
    with periods as materialized (
      select *, seen_at(at) as seen_by from unnest('{0,1}'::integer[], ${timesOf('from')}::timestamptz[],
        ${timesOf('until')}::timestamptz[], ${arrayText(ends)}::timestamptz[]
      ) p (period, since, until, at)
    )
    select period, ${value} as value, ${billed} as billed,
      sum(n)::bigint as n, sum(d)::bigint as d, coalesce(sum(price), 0) as price
    from (
      select ${grouped}, sum(n) as n, sum(d) as d, sum(price) as price
      from (
        select ${grouped}, n, d, price from (select *, ${bandThen(sql)} as band from (${rows}) r) r
        ${more}
      ) counted
      group by ${grouped}
    ) g
    group by 1, 2, 3
    having sum(n) <> 0 or sum(d) <> 0 or sum(price) <> 0`;
}

/**
 * The index of the age band when it counted, in a third of the time that its age in days would take; null if it is of no
 * subscription.
 */
function bandThen(sql: Sql | Transaction) {
  const younger = ageBands
    .slice(0, -1)
    .map((band, index) => [`${band.until * 24} hours`, index] as const)
    .map(
      ([age, index]) => sql`when created_at > counted_at - ${age}::interval then ${index}::integer`,
    )
    .reduce((all, one) => sql`${all} ${one}`);
  return sql`case ${younger} when created_at is not null then ${ageBands.length - 1}::integer end`;
}

const countedBy: Readonly<
  Record<ExplainedFigure, (asked: Asked, names: readonly string[]) => Counted>
> = {
  churnRate: churnRateOf,
  mrr: mrrOf,
  newSubscribers: (asked) => ({
    rows: asked.sql`
      select p.period, ${told(asked)}, ${noReason(asked)}, null::numeric as price, 1 as n, 0 as d,
        p.until as counted_at
      from periods p
      cross join lateral (
        select * from subscriptions
        where shop_id = ${asked.shopId} and created_at >= p.since and created_at < p.until
        order by created_at, subscription_id offset 0
      ) s
      left join lateral (
        select true as is_there from subscriptions
        where shop_id = ${asked.shopId} and customer_id between s.customer_id and s.customer_id
          and (created_at, subscription_id) < (s.created_at, s.subscription_id)
        order by customer_id limit 1
      ) earlier on true
      where earlier.is_there is null`,
  }),
  recoveryRate: (asked) => ({
    rows: asked.sql`
      select p.period, ${told(asked)}, ${noReason(asked)}, null::numeric as price,
        (c.result = 'recovered')::integer as n, 1 as d, c.closed_at as counted_at
      from periods p
      cross join lateral (
        select subscription_id, closed_at, result from dunning_cases
        where shop_id = ${asked.shopId} and closed_at >= p.since and closed_at < p.until
        order by closed_at, opened_at offset 0
      ) c
      cross join ${lookup(asked.sql, asked.shopId, 'subscriptions', 'subscription_id', 'c.subscription_id')} s`,
  }),
  saveRate: (asked) => ({
    rows: asked.sql`
      select p.period, ${told(asked)}, null::text as billed, c.detected_reason as reason, null::numeric as price,
        (c.outcome = 'saved')::integer as n, 1 as d, c.created_at as counted_at
      from periods p
      cross join lateral (
        select subscription_id, detected_reason, outcome, created_at from cancellation_sessions
        where shop_id = ${asked.shopId} and created_at >= p.since and created_at < p.until
        order by created_at, session_id offset 0
      ) c
      left join lateral (
        select * from subscriptions
        where ${asked.by !== 'reason'} and shop_id = ${asked.shopId}
          and subscription_id between c.subscription_id and c.subscription_id
        order by subscription_id limit 1
      ) s on true
      where c.outcome is not null`,
  }),
};
