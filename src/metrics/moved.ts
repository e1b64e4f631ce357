import type { OfSubscription } from './segments/subscriptions.ts';
import type { Period } from './bounds.ts';
import { isoTime } from '../iso-time.ts';
import { type ActiveValue, type IntervalText, monthlyFactor, parseInterval } from '../mrr.ts';
import { type Ratio, add, multiply, parseDecimal, zero } from '../money.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { type Movement, departures, movements } from './facts.ts';
import type { Part } from './ledger.ts';
import { type Position, type TimeOrder, orderOf } from '../store/records/listing.ts';
import { each, lookup } from '../store/lookup.ts';

/** A subscription that became active, no longer is, or is worth something else than before. */
export interface MovedRow extends OfSubscription, Omit<ActiveValue, 'sum'> {
  readonly movement: Movement;
  /** Epoch milliseconds. */
  readonly at: number;
  /** What it brought or took, or changed by, by billing interval. */
  readonly amounts: Readonly<Record<IntervalText, string>>;
}

/** What a movement changed the monthly value by, exactly; below 0 for departures. */
export function monthlyChangeOf({ amounts }: Pick<MovedRow, 'amounts'>): Ratio {
  const parts = Object.entries(amounts) as [IntervalText, string][];
  return parts.reduce((total, [interval, sum]) => {
    const { unit, count } = parseInterval(interval);
    return add(total, multiply(parseDecimal(sum), monthlyFactor(unit, count)));
  }, zero);
}

const isDeparture = (name: Movement) => departures.some((departure) => departure === name);

/** What statuses are left for: a departure is the status itself, an arrival is active. */
const statusesOf = (names: readonly Movement[]) =>
  `{${names.map((name) => (isDeparture(name) ? name : 'active')).join(',')}}`;

const begins = (name: Movement) => name === 'new' || name === 'added';
const changesOfValue: readonly Movement[] = ['expansion', 'contraction'];
const listOf = (names: readonly Movement[]) => `{${names.join(',')}}`;

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
  const beyondRevalued = beyond(sql`c.at`, sql`s.subscription_id`);
  const beyondChanged = beyond(sql`e.at`, sql`e.subscription_id`);
  const notBefore = after ? sql`at ${thanOrAt} ${isoTime(after.createdAt)}` : sql`true`;
  const wanted = listOf(names);
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
  const ofValue = names.filter((name) => changesOfValue.includes(name));
  /** Those whose customer's value changed while they were active, as rows `s`. */
  const revalued = sql`
    select s.*, c.at, split_part(a.fact, ' ', 4) as movement
    from (
      select customer_id, at, active from subscriber_changes
      where shop_id = ${shopId} and at >= ${since} and at < ${end} and ${notBefore}
      order by at ${by} offset 0
    ) c
    cross join lateral (
      select fact from unnest(c.active)
      where split_part(fact, ' ', 4) = any (${listOf(ofValue)}::text[]) limit 1
    ) a
    cross join ${each(sql, shopId, 'subscriptions', 'customer_id', 'c.customer_id')} s
    left join lateral (
      select to_status from status_events
      where shop_id = ${shopId} and subscription_id = s.subscription_id and at < c.at
      order by position desc limit 1
    ) was on true
    left join lateral (
      select to_status from status_events
      where shop_id = ${shopId} and subscription_id = s.subscription_id and at <= c.at
      order by position desc limit 1
    ) became on true
    where s.past_values is not null and s.status_since is not null and s.created_at < c.at
      and coalesce(s.trial_ends_at < c.at, true)
      and coalesce(was.to_status, 'active') = 'active' and coalesce(became.to_status, 'active') = 'active'
      and amounts_at(s.past_values, c.at) <> amounts_before(s.past_values, c.at)
      and ${beyondRevalued}
    order by c.at ${by}, s.subscription_id ${by} limit ${ofValue.length > 0 ? limit : 0}`;
  return sql<MovedRow[]>`
    select m.subscription_id as "subscriptionId", m.customer_id as "customerId",
      m.plan_id as "planId", p.name as "planName", m.movement,
      (date_part('epoch', m.at) * 1000)::bigint as at,
      coalesce(m.own_interval_unit, p.interval_unit) as unit,
      coalesce(m.own_interval_count, p.interval_count) as count, (
        select coalesce(json_object_agg(key, amount), '{}') from (
          select coalesce(nullif(key, ''), case when m.past_values is null
              then coalesce(m.own_interval_unit, p.interval_unit) || ' ' || coalesce(m.own_interval_count, p.interval_count)
              else p.interval_unit || ' ' || p.interval_count end) as key,
            sum(amount)::text as amount
          from (
            select key, value::numeric as amount from jsonb_each_text(
              coalesce(amounts_at(m.past_values, m.at), amounts_of(m.current_price, m.other_intervals)))
            where m.movement <> all (${listOf(departures)}::text[])
            union all
            select key, -value::numeric from jsonb_each_text(
              coalesce(amounts_before(m.past_values, m.at), amounts_of(m.current_price, m.other_intervals)))
            where m.movement = any (${listOf([...departures, ...changesOfValue])}::text[])
          ) parts group by 1
        ) sums
      ) as amounts
    from (
      ${beginning(began)} union all ${beginning(converted)} union all (${changed}) union all (${revalued})
    ) m
    cross join lateral (
      select name, interval_unit, interval_count from plans
      where shop_id = ${shopId} and plan_id = m.plan_id limit 1
    ) p
    order by m.at ${by}, m.subscription_id ${by}
    limit ${limit}`;
}
