import { decimalText, priceDecimals, unitsOf } from '../../src/money.ts';
import type { Sql, Transaction } from '../../src/store/database.ts';
import { timeOf } from './instants.ts';
import type { Random } from './random.ts';

const statuses = ['active', 'active', 'paused', 'cancelled', 'expired', 'failed'] as const;
const units = ['day', 'week', 'month', 'year'] as const;
const digest = '00000000-0000-0000-0000-000000000000';

const iso = (at: number) => new Date(at).toISOString();

/** One change of a shop's records, in one or several statements, as any program might make it. */
type Change = (tx: Transaction, shopId: number, random: Random) => Promise<unknown>;

/** Times and status changes of a subscription that is active at first. */
function randomHistory(random: Random) {
  const times = Array.from({ length: 1 + random.integer(4) }, () => timeOf(random)).toSorted(
    (a, b) => a - b,
  );
  const createdAt = times[0] as number;
  let status: string = 'active';
  let since = createdAt;
  const events: { position: number; at: string; from: string; to: string }[] = [];
  for (const [position, at] of times.slice(1).entries()) {
    const from = status;
    const to = random.oneOf(statuses.filter((each) => each !== from));
    events.push({ position, at: iso(at), from, to });
    status = to;
    since = at;
  }
  // The last change has no date.
  const isUndated = status !== 'active' && random.chance(0.15);
  if (isUndated) events.pop();
  return {
    createdAt: iso(createdAt),
    status,
    since: isUndated ? null : iso(since),
    events: JSON.stringify(events),
  };
}

const subscriptionIdOf = (random: Random) => 1 + random.integer(9);
const amountOf = (random: Random) => random.oneOf(['0', '5', '5.00', '19.99', '1000000.01']);
/** Sums of lines by the interval that is their own. */
const otherIntervalsOf = (random: Random) =>
  random.chance(0.7)
    ? null
    : Object.fromEntries(
        Array.from({ length: 1 + random.integer(2) }, () => [
          `${random.oneOf(units)} ${1 + random.integer(2)}`,
          random.oneOf(['0', '7.5', '0.000000000001', '120.00']),
        ]),
      );
/** What it was worth before, and from which times on; in the end, what it is worth. */
function pastValuesOf(random: Random, now: Readonly<Record<string, string>>) {
  if (random.chance(0.5)) return null;
  const times = Array.from({ length: 1 + random.integer(4) }, () => timeOf(random));
  const inOrder = [...new Set(times)].toSorted((a, b) => a - b);
  return inOrder.map((at, index) => {
    if (index === inOrder.length - 1) return [at, now];
    if (index > 0 && random.chance(0.2)) return [at];
    const interval = random.oneOf([
      '',
      'month 1',
      `${random.oneOf(units)} ${1 + random.integer(2)}`,
    ]);
    return [
      at,
      random.chance(0.1) ? {} : { [interval]: amountOf(random), ...otherIntervalsOf(random) },
    ];
  });
}
const sumOf = (amounts: readonly string[]) =>
  decimalText(
    amounts.reduce((sum, amount) => sum + unitsOf(amount, priceDecimals), 0n),
    priceDecimals,
  );
const codeOf = (random: Random) => random.oneOf([null, 'card_declined', 'expired_card']);
const cycleOf = (random: Random) => random.oneOf(['1', '2', '3']);
const paymentStatusOf = (random: Random) =>
  random.oneOf([
    ['succeeded', null],
    ['failed', 'payment'],
    ['failed', null],
    ['failed', 'inventory'],
    ['pending', null],
  ] as const);

/** The id of a plan, stored from the start. */
const planIdOf = (random: Random) => 1 + random.integer(3);

/**
 * Locks a subscription before it and its history change together: what a statement reads of the history must
 * not be older than what it writes. This is the writers' duty; aggregates only follow the records.
 */
const lockHistories = (tx: Transaction, shopId: number, ids: readonly number[]) =>
  tx`
    select pg_advisory_xact_lock(${shopId}::bigint * 16 + id)
    from (select unnest(${`{${ids.join(',')}}`}::text::bigint[]) as id order by 1) ids`;

const putSubscription: Change = async (tx, shopId, random) => {
  const id = subscriptionIdOf(random);
  await lockHistories(tx, shopId, [id]);
  const { createdAt, status, since, events } = randomHistory(random);
  const unit = random.chance(0.3) ? random.oneOf(units) : null;
  const count = unit === null ? null : 1 + random.integer(2);
  const customerId = 1 + random.integer(4);
  const others = otherIntervalsOf(random);
  const own = amountOf(random);
  const worth = { [unit === null ? '' : `${unit} ${count}`]: own, ...others };
  const past = pastValuesOf(random, worth);
  const trialEnd = random.chance(0.3) ? iso(timeOf(random)) : null;
  await tx`insert into customers values (${shopId}, ${customerId}) on conflict do nothing`;
  const put = (also = tx``) => tx`
    ${also}
    insert into subscriptions values (${shopId}, ${id}, ${customerId}, ${planIdOf(random)},
      ${status}, ${since}, ${sumOf([own, ...Object.values(others ?? {})])}, ${unit}, ${count},
      ${random.chance(0.8) ? iso(timeOf(random)) : null}, null, ${createdAt}, null, ${digest}, null, null,
      ${trialEnd}, ${others && JSON.stringify(others)}::text::jsonb,
      ${past && JSON.stringify(past)}::text::jsonb)
    on conflict (shop_id, subscription_id) do update set
      customer_id = excluded.customer_id, plan_id = excluded.plan_id, status = excluded.status,
      status_since = excluded.status_since, current_price = excluded.current_price,
      own_interval_unit = excluded.own_interval_unit,
      own_interval_count = excluded.own_interval_count,
      next_billing_at = excluded.next_billing_at, created_at = excluded.created_at,
      trial_ends_at = excluded.trial_ends_at, other_intervals = excluded.other_intervals,
      past_values = excluded.past_values`;
  const insertEvents = () => tx`
    insert into status_events
    select ${shopId}, ${id}, position, at, "from", "to"
    from json_to_recordset(${events}::text::json)
      as e(position smallint, at timestamptz, "from" text, "to" text)`;
  // Events are written before the subscription, after it, or deleted together with it in one statement.
  if (random.chance(0.5)) {
    await tx`delete from status_events where shop_id = ${shopId} and subscription_id = ${id}`;
    await put();
    await insertEvents();
  } else {
    await put(tx`with gone as (
      delete from status_events where shop_id = ${shopId} and subscription_id = ${id}
    )`);
    await insertEvents();
  }
};

const putPayments: Change = async (tx, shopId, random) => {
  const rows = Array.from({ length: 1 + random.integer(6) }, (_, index) => {
    const [status, failureKind] = paymentStatusOf(random);
    return {
      id: 1 + ((random.integer(30) + index * 31) % 200),
      subscription: subscriptionIdOf(random),
      cycle: cycleOf(random),
      status,
      kind: failureKind,
      code: status === 'failed' ? codeOf(random) : null,
      amount: amountOf(random),
      at: iso(timeOf(random)),
    };
  });
  await tx`
    insert into payments
    select ${shopId}, r.id, subscription, cycle, r.status, kind, amount, at, null, ${digest}, code
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r(id bigint,
      subscription bigint, cycle text, status text, kind text, code text, amount numeric, at timestamptz)
    join subscriptions s on s.shop_id = ${shopId} and s.subscription_id = subscription
    on conflict (shop_id, payment_id) do update set subscription_id = excluded.subscription_id,
      cycle = excluded.cycle, status = excluded.status, failure_kind = excluded.failure_kind,
      failure_code = excluded.failure_code, amount = excluded.amount, processed_at = excluded.processed_at`;
};

const putSession: Change = async (tx, shopId, random) => {
  // Sessions of subscriptions that do not exist are of none.
  const [subscription] = await tx<{ id: number }[]>`
    select subscription_id as id from subscriptions
    where shop_id = ${shopId} and subscription_id = ${subscriptionIdOf(random)}`;
  await tx`
    insert into cancellation_sessions
    values (${shopId}, ${1 + random.integer(9)}, ${subscription?.id ?? null},
      ${random.oneOf(['other', 'not_using'])}, ${random.oneOf(['pause', null])},
      ${random.oneOf(['saved', 'saved', 'cancelled', 'abandoned', null])}, ${iso(timeOf(random))},
      null, ${digest})
    on conflict (shop_id, session_id) do update
      set subscription_id = excluded.subscription_id, outcome = excluded.outcome,
        detected_reason = excluded.detected_reason, offer_type = excluded.offer_type,
        created_at = excluded.created_at`;
};

const changes: readonly Change[] = [
  putSubscription,
  putSubscription,
  putPayments,
  putPayments,
  (tx, shopId, random) => tx`
    update payments set processed_at = ${iso(timeOf(random))}, status = 'failed',
      failure_kind = 'payment'
    where shop_id = ${shopId} and subscription_id = ${subscriptionIdOf(random)}
      and cycle = ${cycleOf(random)}`,
  (tx, shopId, random) => tx`
    update payments set subscription_id = s.subscription_id
    from subscriptions s
    where payments.shop_id = ${shopId} and s.shop_id = ${shopId} and payment_id % 5 = 0
      and s.subscription_id = ${subscriptionIdOf(random)}`,
  (tx, shopId, random) => tx`
    delete from payments where shop_id = ${shopId} and payment_id % 7 = ${random.integer(7)}`,
  (tx, shopId, random) => tx`
    insert into refunds
    select shop_id, payment_id, payment_id, ${amountOf(random)}, ${iso(timeOf(random))}, null,
      ${digest}
    from payments where shop_id = ${shopId} and payment_id % 4 = ${random.integer(4)}
    on conflict (shop_id, refund_id) do update
      set amount = excluded.amount, refunded_at = excluded.refunded_at`,
  (tx, shopId, random) => tx`
    delete from refunds where shop_id = ${shopId} and refund_id % 3 = ${random.integer(3)}`,
  putSession,
  putSession,
  (tx, shopId, random) => tx`
    delete from cancellation_sessions
    where shop_id = ${shopId} and session_id = ${1 + random.integer(9)}`,
  (tx, shopId, random) => tx`
    update plans set interval_unit = ${random.oneOf(units)}, interval_count = ${1 + random.integer(2)}
    where shop_id = ${shopId} and plan_id = ${planIdOf(random)}`,
  (tx, shopId, random) => tx`
    update subscriptions set current_price = ${amountOf(random)}, past_values = null, other_intervals = null,
      next_billing_at = ${iso(timeOf(random))}
    where shop_id = ${shopId} and subscription_id % 2 = ${random.integer(2)}`,
  // Two customers are swapped in one statement.
  (tx, shopId) => tx`
    update subscriptions set customer_id = 3 - customer_id
    where shop_id = ${shopId} and customer_id in (1, 2) and 2 = (
      select count(*) from customers where shop_id = ${shopId} and customer_id in (1, 2))`,
  // Three tables in one statement: every trigger sees the final state of all of them.
  async (tx, shopId, random) => {
    await lockHistories(tx, shopId, [3, 6, 9]);
    await tx`
    with gone as (
      delete from status_events where shop_id = ${shopId} and subscription_id % 3 = 0
    ), paid as (
      update payments set status = 'succeeded', failure_kind = null
      where shop_id = ${shopId} and subscription_id % 3 = 0
    )
    update subscriptions set status = 'active', status_since = created_at,
      current_price = ${amountOf(random)}, past_values = null, other_intervals = null
    where shop_id = ${shopId} and subscription_id % 3 = 0`;
  },
  (tx, shopId, random) => tx`
    delete from subscriptions
    where shop_id = ${shopId} and subscription_id = ${subscriptionIdOf(random)}`,
];

/** Creates the plans that the changes need. */
export async function preparePlans(sql: Sql, shopId: number): Promise<void> {
  await sql`
    insert into plans select ${shopId}, n, 'Plan', '', 'subscription', 'month', n, true, 0, 'none',
      0, '', null, ${digest} from generate_series(1, 3) n`;
}

const conflicts = new Set(['40P01', '40001']);
/** Another writer has deleted something that a record needs. */
const isOrphan = '23503';

/**
 * Changes records of some shops in a transaction of several statements, which may be rolled back. The caller
 * must retry it after a serialization failure, as any program must.
 */
export async function writeSomething(
  sql: Sql,
  shopIds: readonly number[],
  random: Random,
): Promise<void> {
  const steps = Array.from({ length: 1 + random.integer(5) }, () => ({
    change: random.oneOf(changes),
    shopId: random.oneOf(shopIds),
  }));
  const isRolledBack = random.chance(0.15);
  const rollback = new Error('taken back');
  for (;;) {
    try {
      await sql.begin(async (tx) => {
        for (const { change, shopId } of steps) await change(tx, shopId, random);
        if (isRolledBack) throw rollback;
      });
      return;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (error === rollback || code === isOrphan) return;
      if (!conflicts.has(code)) throw error;
    }
  }
}
