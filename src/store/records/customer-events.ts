import { isoTime } from '../../iso-time.ts';
import type { Query } from '../connections/query.ts';
import type { Sql, Transaction } from '../database.ts';
import { each, lookup } from '../lookup.ts';
import { type TimeOrder, keyset } from './listing.ts';

/** What can happen to a customer, in the order in which it counts at one instant. */
export const eventKinds = ['began', 'payment', 'refund', 'value', 'session', 'status'] as const;
export type EventKind = (typeof eventKinds)[number];

/** Something that happened to a customer. Amounts are decimals. */
export interface CustomerEvent {
  readonly kind: EventKind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly subscriptionId: number;
  readonly planName: string;
  /** Tells apart what is of one kind and instant. */
  readonly id: number;
  /** The status, of a subscription or a payment, or the outcome. */
  readonly word: string | null;
  /** Paid, failed, refunded, or what the subscription is worth a month from then on. */
  readonly amount: string | null;
  /** What it was worth before. */
  readonly before: string | null;
  /** Why: of a session, the reason; of a failed payment, its code, or `inventory`. */
  readonly reason: string | null;
  readonly offer: string | null;
}

/** The last row of the page before. */
type Place = Pick<CustomerEvent, 'at' | 'id' | 'subscriptionId'> & { readonly rank: number };

export const rankOf = (kind: EventKind) => eventKinds.indexOf(kind);

/** More subscriptions of one customer are not read. */
export const maxHeld = 100;

/**
 * What happened to a customer by now, epoch milliseconds. Reads all of the history of their newest subscriptions.
 * @param page.kinds what; everything if it is left out
 */
export function listCustomerEvents(
  sql: Sql | Transaction,
  shopId: number,
  customerId: number,
  now: number,
  page: {
    readonly kinds?: readonly EventKind[] | undefined;
    readonly order: TimeOrder;
    readonly after: Place | undefined;
    readonly limit: number;
  },
): Promise<CustomerEvent[]> {
  const { kinds = eventKinds, order, after, limit } = page;
  const { beyond, by } = keyset(
    sql,
    order,
    ['at', 'rank', 'subscription_id', 'id'],
    after && {
      at: isoTime(after.at),
      rank: after.rank,
      subscription_id: after.subscriptionId,
      id: after.id,
    },
  );
  const of = (table: string, column = 'subscription_id', id = 's.subscription_id') =>
    each(sql, shopId, table, column, id);
  const events: Readonly<Record<EventKind, Query<object[]>>> = {
    began: sql`select s.created_at, 0, null, null, null, null, null`,
    payment: sql`select processed_at, payment_id, status, amount, null,
        case when failure_kind = 'inventory' then failure_kind else failure_code end, null
      from ${of('payments')} p`,
    refund: sql`select r.refunded_at, r.refund_id, null, r.amount, null, null, null from ${of('payments')} p
      cross join ${of('refunds', 'payment_id', 'p.payment_id')} r`,
    value: sql`select since, 0, null, amount, before, null, null from (
        select v.since, m.amount, lag(m.amount) over (order by v.since) as before
        from values_of(s.past_values) v
        cross join lateral (
          select sum(monthly_amount(value::numeric, coalesce(nullif(key, ''), s.billed_by_plan))) as amount
          from jsonb_each_text(v.amounts)
        ) m
      ) worth where round(amount, 12) <> round(before, 12) and since > s.created_at`,
    session: sql`select created_at, session_id, outcome, null, null, detected_reason, offer_type
      from ${of('cancellation_sessions')} c`,
    status: sql`select at, position, to_status, null, null, null, null from ${of('status_events')} e`,
  };
  const all = kinds
    .map(
      (kind) => sql`
        select ${kind} as kind, ${rankOf(kind)}::int as rank, s.subscription_id, s.plan_name, e.at,
          e.id::bigint, e.word::text, e.amount::numeric, e.before::numeric, e.reason::text, e.offer::text
        from held s cross join lateral (${events[kind]}) e (at, id, word, amount, before, reason, offer)`,
    )
    .reduce((one, other) => sql`${one} union all ${other}`);
  return sql<CustomerEvent[]>`
    with held as materialized (
      select s.*, p.name as plan_name, p.interval_unit || ' ' || p.interval_count as billed_by_plan
      from (
        select * from ${each(sql, shopId, 'subscriptions', 'customer_id', customerId)} s
        order by created_at desc, subscription_id desc limit ${maxHeld}
      ) s
      cross join ${lookup(sql, shopId, 'plans', 'plan_id', 's.plan_id')} p
    )
    select kind, (date_part('epoch', at) * 1000)::bigint as at, subscription_id as "subscriptionId",
      plan_name as "planName", id, word, amount::text as amount, before::text as before, reason, offer
    from (${all}) events
    where at <= ${isoTime(now)} and ${beyond}
    order by ${by()} limit ${limit}`;
}
