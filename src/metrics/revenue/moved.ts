import { monthlyFactor } from '../../intervals.ts';
import { type Ratio, multiply, parseDecimal } from '../../money.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type Position, type TimeOrder, orderOf } from '../../store/records/listing.ts';
import type { Period } from '../bounds.ts';
import { type ActiveValue, type Movement, isDeparture, movements } from '../facts.ts';
import type { Part } from '../segments/chosen.ts';

/** A subscription that became active, or no longer is. */
export interface MovedRow extends Omit<ActiveValue, 'sum'> {
  readonly subscriptionId: number;
  readonly customerId: number;
  readonly planId: number;
  readonly planName: string;
  readonly movement: Movement;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Of a billing cycle, a decimal. */
  readonly price: string;
}

/** What a movement changed the monthly value by, exactly; below 0 for departures. */
export function monthlyChangeOf({ movement, price, unit, count }: MovedRow): Ratio {
  const value = multiply(parseDecimal(price), monthlyFactor(unit, count));
  return isDeparture(movement) ? { ...value, numerator: -value.numerator } : value;
}

/** What statuses are left for: a departure is the status itself, an arrival is active. */
const statusesOf = (names: readonly Movement[]) =>
  `{${names.map((name) => (isDeparture(name) ? name : 'active')).join(',')}}`;

const iso = (at: number) => new Date(at).toISOString();

const begins = (name: Movement) => name === 'new' || name === 'added';

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
  const [since, end] = [iso(from), iso(until)];
  /** The rows after the last one of the page before. */
  const beyond = (at: Part, id: Part) =>
    after ? sql`(${at}, ${id}) ${than} (${iso(after.createdAt)}, ${after.id})` : sql`true`;
  const beyondBegan = beyond(sql`created_at`, sql`subscription_id`);
  const beyondChanged = beyond(sql`e.at`, sql`e.subscription_id`);
  const notBefore = after ? sql`at ${thanOrAt} ${iso(after.createdAt)}` : sql`true`;
  const wanted = `{${names.join(',')}}`;
  const changing = names.filter((name) => !begins(name));
  const began = sql`
    select s.*, s.created_at as at, v.movement
    from (
      select * from subscriptions
      where shop_id = ${shopId} and created_at >= ${since} and created_at < ${end}
        and ${beyondBegan}
      order by created_at ${by}, subscription_id ${by} offset 0
    ) s
    left join lateral (
      select to_status from status_events
      where shop_id = ${shopId} and subscription_id = s.subscription_id and at <= s.created_at
      order by position desc limit 1
    ) became on true
    left join lateral (
      select true as is_known from subscriptions
      where shop_id = ${shopId} and customer_id between s.customer_id and s.customer_id
        and (created_at, subscription_id) < (s.created_at, s.subscription_id)
      order by customer_id limit 1
    ) customer on true
    cross join lateral (
      values (case when customer.is_known then 'added' else 'new' end)
    ) v (movement)
    where coalesce(became.to_status, 'active') = 'active' and v.movement = any (${wanted}::text[])
    order by s.created_at ${by}, s.subscription_id ${by} limit ${names.some(begins) ? limit : 0}`;
  const changed = sql`
    select s.*, e.at, v.movement
    from (
      select subscription_id, position, at, to_status from status_events
      where shop_id = ${shopId} and at >= ${since} and at < ${end} and ${notBefore}
        and to_status = any (${statusesOf(changing)}::text[])
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
    cross join lateral (
      select * from subscriptions
      where shop_id = ${shopId} and subscription_id between e.subscription_id and e.subscription_id
      order by subscription_id limit 1
    ) s
    cross join lateral (
      values (case when e.to_status <> 'active' then e.to_status
        when past.to_status = 'paused' then 'resumed' else 'reactivated' end)
    ) v (movement)
    where next.at is distinct from e.at and e.at > s.created_at
      and (e.to_status = 'active') <> (coalesce(past.to_status, 'active') = 'active')
      and v.movement = any (${wanted}::text[])
      and ${beyondChanged}
    order by e.at ${by}, e.subscription_id ${by} limit ${changing.length > 0 ? limit : 0}`;
  return sql<MovedRow[]>`
    select m.subscription_id as "subscriptionId", m.customer_id as "customerId",
      m.plan_id as "planId", p.name as "planName", m.movement,
      (date_part('epoch', m.at) * 1000)::bigint as at,
      coalesce(m.own_interval_unit, p.interval_unit) as unit,
      coalesce(m.own_interval_count, p.interval_count) as count, m.current_price as price
    from ((${began}) union all (${changed})) m
    cross join lateral (
      select name, interval_unit, interval_count from plans
      where shop_id = ${shopId} and plan_id = m.plan_id limit 1
    ) p
    order by m.at ${by}, m.subscription_id ${by}
    limit ${limit}`;
}
