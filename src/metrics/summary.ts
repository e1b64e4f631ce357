import { withTimeout, type Sql, type Transaction } from '../store/database.ts';
import { type Bounds, boundsOf, day, restOfTime } from './bounds.ts';
import type { FactSum } from './facts.ts';
import { type MetricsRow, rowOf } from './row.ts';

/**
 * The inputs of the summary at an instant, ignoring anything dated later. Whole days, hours and
 * minutes of the windows come from the ledger, and the remainders at their ends from the facts.
 * States are the final state minus all changes after the instant. The cost therefore does not grow
 * with the shop.
 * @param now epoch milliseconds; the windows are the 30 × 24 h before and the 7 × 24 h after it
 * @param followsChanges whether to use the history of subscriptions that change after `now`, at a
 * cost per change. Otherwise cancelled, atRisk, churned, failedPayments and the renewals may
 * reflect later changes; all other values are exact.
 */
export async function summariseMetrics(
  sql: Sql | Transaction,
  shopId: number,
  now: number,
  { followsChanges = true } = {},
): Promise<MetricsRow> {
  const at = new Date(now).toISOString();
  const changedFrom = followsChanges ? at : 'infinity';
  const since = new Date(now - 30 * day).toISOString();
  const until = new Date(now + 7 * day).toISOString();
  const past = boundsOf(now - 30 * day, now);
  const next = boundsOf(now, now + 7 * day);
  // The state at an instant includes changes at that instant.
  const after = restOfTime(now + 1);

  const sums = await withTimeout(sql<FactSum[]>`
    with kept as materialized (
      select coalesce(max(hours_since), 'infinity') as since from metric_shops
      where shop_id = ${shopId}
    ),
    past_ends as materialized (${endsOf(sql, past)}),
    next_ends as materialized (${endsOf(sql, next)}),
    happened as (
      select l.* from (${piecesOf(sql, past)}) piece
      cross join lateral (
        select fact, count, amount from metric_ledger
        where shop_id = ${shopId} and grain = piece.grain
          and bucket >= piece.since and bucket < piece.until and fact <> 'renewal'
        offset 0
      ) l
      union all
      select v.fact, v.count, 0
      from (
        select sum(new_subscriber) as new_subscriber, sum(cancelled) as cancelled,
          sum(churned) as churned, sum(expired) as expired
        from past_ends e
        join subscriber_changes c on c.shop_id = ${shopId} and c.at >= e.since and c.at < e.until
      ) changed
      cross join lateral (values ('new_subscriber', new_subscriber), ('cancelled', cancelled),
        ('churned', churned), ('expired', expired)) v (fact, count)
      union all
      select 'paid', 1, p.amount from past_ends e
      join payments p on p.shop_id = ${shopId} and p.status = 'succeeded'
        and p.processed_at >= e.since and p.processed_at < e.until
      union all
      select 'refunded', 1, r.amount from past_ends e
      join refunds r on r.shop_id = ${shopId}
        and r.refunded_at >= e.since and r.refunded_at < e.until
      union all
      select 'cycle_failed', 1, 0 from past_ends e
      join failed_cycles f on f.shop_id = ${shopId} and f.is_last
        and f.failed_at >= e.since and f.failed_at < e.until
      union all
      select 'session_' || coalesce(s.outcome, 'open'), 1, 0 from past_ends e
      join cancellation_sessions s on s.shop_id = ${shopId}
        and s.created_at >= e.since and s.created_at < e.until
      union all
      select 'dunning_' || d.result, 1, 0 from past_ends e
      join dunning_cases d on d.shop_id = ${shopId}
        and d.closed_at >= e.since and d.closed_at < e.until
    ),
    -- A cycle counts at its last failure; if that is in the future, an earlier one may count.
    failing_again as (
      select 'cycle_failed' as fact, 1 as count, 0 as amount
      from failed_cycles f
      -- The limit also keeps the planner from starting with the window's payments.
      cross join lateral (
        select from payments p
        where p.shop_id = ${shopId} and p.subscription_id = f.subscription_id
          and p.cycle = f.cycle and p.processed_at >= ${since} and p.processed_at < ${at}
          and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
        limit 1
      ) earlier
      where f.shop_id = ${shopId} and f.failed_at >= ${changedFrom} and f.is_last
    ),
    renewing as (
      select l.* from (${piecesOf(sql, next)}) piece
      cross join lateral (
        select count, amount from metric_ledger
        where shop_id = ${shopId} and grain = piece.grain
          and bucket >= piece.since and bucket < piece.until and fact = 'renewal'
        offset 0
      ) l
      union all
      select 1, s.current_price from next_ends e
      join subscriptions s on s.shop_id = ${shopId} and s.status = 'active'
        and s.next_billing_at >= e.since and s.next_billing_at < e.until
    ),
    state as (
      select fact, count, amount from metric_ledger
      where shop_id = ${shopId} and grain = 'all'
      union all
      select fact, -count, -amount from metric_ledger
      where shop_id = ${shopId} and grain = 'shift' and bucket >= ${after.days}
      union all
      select fact, -count, -amount from subscriber_facts
      where shop_id = ${shopId} and at >= ${after.end[0]} and at < ${after.end[1]}
        and is_state(fact)
      union all
      select 'dunning_open', -1, 0 from dunning_cases
      where shop_id = ${shopId} and opened_at >= ${after.end[0]} and opened_at < ${after.end[1]}
      union all
      select 'dunning_open', 1, 0 from dunning_cases
      where shop_id = ${shopId} and closed_at >= ${after.end[0]} and closed_at < ${after.end[1]}
      union all
      -- Churn risk is determined just before the instant.
      select fact, -count, 0 from subscriber_facts
      where shop_id = ${shopId} and at = ${at} and fact = 'live'
    ),
    -- The ledger has only the final state of a subscription. Subscriptions that change at the instant or
    -- later are evaluated by their history up to it. Each is found by its last event, because removing
    -- duplicates would make the planner reserve too much memory.
    changing as (
      select e.subscription_id from status_events e
      left join lateral (
        select true as is_followed from status_events
        where shop_id = ${shopId} and subscription_id = e.subscription_id
          and position > e.position
        limit 1
      ) later on true
      where e.shop_id = ${shopId} and e.at >= ${changedFrom} and is_followed is null
      union all
      select s.subscription_id from subscriptions s
      left join lateral (
        select true as is_followed from status_events
        where shop_id = ${shopId} and subscription_id = s.subscription_id
        limit 1
      ) later on true
      where s.shop_id = ${shopId} and s.created_at >= ${changedFrom} and is_followed is null
    ),
    corrections as (
      select v.fact, v.count, v.amount
      from changing c
      cross join lateral (
        select * from subscriptions
        where shop_id = ${shopId} and subscription_id = c.subscription_id limit 1
      ) s
      left join lateral (
        select to_status, at from status_events
        where shop_id = ${shopId} and subscription_id = c.subscription_id and at <= ${at}
        order by position desc limit 1
      ) seen on true
      left join lateral (
        select to_status from status_events
        where shop_id = ${shopId} and subscription_id = c.subscription_id and at < ${at}
        order by position desc limit 1
      ) before on true
      left join lateral (
        select max(at) filter (where at < ${at}) as before, max(at) as last from status_events
        where shop_id = ${shopId} and subscription_id = c.subscription_id
          and from_status in ('active', 'paused') and to_status not in ('active', 'paused')
      ) leaving on true
      cross join lateral (
        select case when s.created_at <= ${at} then coalesce(seen.to_status, 'active') else '' end
            as status,
          coalesce(seen.at, s.created_at) as since,
          case when s.created_at < ${at} then coalesce(before.to_status, 'active') else '' end
            as status_before
      ) was
      -- The state then, minus what the ledger has, which omits anything in the future.
      cross join lateral (
        select was.status = 'cancelled' and was.since >= ${since} and was.since < ${at}
            as cancelled,
          was.status in ('cancelled', 'failed') and was.since >= ${since} and was.since < ${at}
            and leaving.before >= ${since} as churned,
          was.status_before in ('cancelled', 'failed', 'expired') and leaving.before >= ${since}
            as gone,
          s.status not in ('active', 'paused') and leaving.last >= ${since}
            and leaving.last < ${at} as has_gone,
          (s.next_billing_at >= ${at} and s.next_billing_at < ${until})::int
            * ((was.status = 'active')::int - (s.status = 'active')::int) as renewal
      ) flags
      cross join lateral (values
        ('cancelled', cancelled::int, 0),
        ('churned', churned::int - (has_gone and s.status <> 'expired')::int, 0),
        ('expired', -(has_gone and s.status = 'expired')::int, 0),
        ('gone', gone::int - churned::int, 0),
        ('renewal', renewal, renewal * s.current_price)
      ) v (fact, count, amount)
    )
    select fact, sum(count)::bigint as count, sum(amount) as amount
    from (
      select * from happened
      union all select * from failing_again
      union all select 'renewal', * from renewing
      union all select * from state
      union all select * from corrections
    ) facts
    group by fact`);
  return rowOf(sums);
}

/** The whole days, hours and minutes of an interval, as far as they are stored. */
export function piecesOf(sql: Sql | Transaction, { pieces }: Bounds) {
  const list = (field: keyof (typeof pieces)[number]) =>
    `{${pieces.map((piece) => piece[field]).join(',')}}`;
  return sql`
    select piece.* from kept
    join unnest(${list('grain')}::text[], ${list('from')}::timestamptz[],
      ${list('until')}::timestamptz[]) piece (grain, since, until)
      on piece.grain = 'day' or kept.since <= piece.since`;
}

/** The remainders at the ends of an interval; whole days if nothing smaller is stored. */
export function endsOf(sql: Sql | Transaction, { ends: [first, last] }: Bounds) {
  return sql`
    select ${first.from}::timestamptz as since,
      case when kept.since <= ${first.until} then ${first.until}::timestamptz
        else ${first.day} end as until
    from kept
    union all
    select case when kept.since <= ${last.day} then ${last.from}::timestamptz
      else ${last.day} end, ${last.until}
    from kept`;
}
