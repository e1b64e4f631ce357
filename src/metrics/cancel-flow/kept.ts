import type { Ratio } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import type { Window } from '../churn.ts';
import { type ActiveValue, monthlyValue } from '../facts.ts';
import { changingAfter } from '../renewals.ts';

/** Subscriptions that a cancel-flow session kept. */
export interface Kept {
  readonly subscriptions: number;
  /** Their exact monthly value. */
  readonly value: Ratio;
}

export interface KeptRow extends ActiveValue {
  readonly subscriptions: number;
}

/**
 * The subscriptions that are active now and whose last saved session began in a window, at today's prices. Each counts
 * in one window only, so windows that follow one another add up. Reads the window's entries of one index.
 */
export async function summariseKept(
  sql: Sql | Transaction,
  shopId: number,
  { from, until, now }: Window,
): Promise<Kept> {
  const [since, end, at] = [from, until, now].map((each) => new Date(each).toISOString()) as [
    string,
    string,
    string,
  ];
  return keptOf(
    await sql<KeptRow[]>`
    with changing as (
      ${changingAfter(sql, shopId, at)}
      union
      select subscription_id from (
        select subscription_id, outcome from cancellation_sessions
        where shop_id = ${shopId} and created_at > ${at} order by created_at offset 0
      ) c
      where outcome = 'saved' and subscription_id is not null
    ),
    kept as (
      select plan_id, own_interval_unit, own_interval_count, count(*) as sign, sum(current_price) as value
      from (
        select plan_id, own_interval_unit, own_interval_count, current_price from subscriptions
        where shop_id = ${shopId} and status = 'active' and saved_at is not null
          and saved_at >= ${since} and saved_at < ${end}
        order by saved_at offset 0
      ) s
      group by plan_id, own_interval_unit, own_interval_count
      union all
      -- What is stored is the final state: what holds now replaces it.
      select s.plan_id, s.own_interval_unit, s.own_interval_count, s.sign, s.sign * s.current_price
      from changing c
      cross join lateral (
        select plan_id, own_interval_unit, own_interval_count, current_price,
          coalesce(created_at <= ${at} and coalesce(seen.to_status, 'active') = 'active'
              and session.saved_at >= ${since} and session.saved_at < ${end}, false)::int
            - coalesce(status = 'active' and subscriptions.saved_at >= ${since}
              and subscriptions.saved_at < ${end}, false)::int as sign
        from subscriptions
        left join lateral (
          select to_status from status_events
          where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= ${at}
          order by position desc limit 1
        ) seen on true
        left join lateral (
          select max(created_at) as saved_at from (
            select * from cancellation_sessions
            where shop_id = ${shopId}
              and subscription_id between c.subscription_id and c.subscription_id
            order by subscription_id offset 0
          ) s
          where outcome = 'saved' and created_at <= ${at}
        ) session on true
        where shop_id = ${shopId} and subscription_id between c.subscription_id and c.subscription_id
        order by subscription_id limit 1
      ) s
    )
    select coalesce(k.own_interval_unit, p.interval_unit) as unit,
      coalesce(k.own_interval_count, p.interval_count) as count,
      sum(k.sign)::bigint as subscriptions, sum(k.value) as sum
    from kept k
    cross join lateral (
      select interval_unit, interval_count from plans
      where shop_id = ${shopId} and plan_id = k.plan_id limit 1
    ) p
    group by 1, 2`,
  );
}

/** @param rows by billing interval */
export function keptOf(rows: readonly KeptRow[]): Kept {
  return {
    subscriptions: rows.reduce((total, row) => total + row.subscriptions, 0),
    value: monthlyValue(rows),
  };
}
